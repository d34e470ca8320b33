"""`safelight upscale`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from app.paths import find_paths
from app.settings.reading import FILE
from backends.base import Array
from engine.api.saving import PictureFormat
from engine.metadata.record import record_chunks
from engine.output.encoding import encode_picture
from tests.checkpoints.files import write_sparse
from tests.families.test_identify import SMALL
from tests.metadata.records import PLAIN, read_record
from tests.upscalers.small import file_of, picture, torch_file_of

CPU = ("--backend", "cpu")


def pixels(height: int, width: int, channels: int = 3) -> Array:
    planes = picture(height, width, channels=channels)
    return np.rint(planes.transpose(1, 2, 0) * 255).astype(np.uint8)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A picture of ours, with its record."""
    path = tmp_path / "cat.png"
    path.write_bytes(encode_picture(pixels(20, 24), record_chunks(PLAIN), PictureFormat.PNG, 92))
    return path


def size_of(path: Path | str) -> tuple[int, int]:
    with Image.open(path) as image:
        return image.size


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_a_file_enlarges_a_picture_and_the_record_says_so(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = torch_file_of(tmp_path, "ESRGAN", lambda name: f"params_ema.{name}")
    target = tmp_path / "large.png"
    assert run(["upscale", str(source), "--model", str(model), "--output", str(target), *CPU]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (f"{target}\n", "")
    assert size_of(target) == (96, 80)
    before, after = read_record(source), read_record(target)
    assert before == PLAIN
    assert after is not None
    assert after.request == PLAIN.request
    assert isinstance(after.upscales, tuple)
    (report,) = after.upscales
    assert (report.name, report.width, report.height) == ("ESRGAN", 96, 80)
    assert (report.path, report.resampling) == (str(model), "lanczos")
    assert report.digest
    assert report.device


def test_json_tells_each_picture_and_what_enlarged_it(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = file_of(tmp_path, "SPAN")
    other = tmp_path / "dog.png"
    Image.fromarray(pixels(7, 9, 4)).save(other)
    arguments = ["upscale", str(source), str(other), "--model", str(model), "--scale", "3", *CPU]
    assert run([*arguments, "--output", str(tmp_path / "made"), "--json"]) == 0
    found = told(capsys)
    assert [
        (upscaled["path"], upscaled["width"], upscaled["height"]) for upscaled in found["images"]
    ] == [
        (str(tmp_path / "made" / "cat-upscaled.png"), 72, 60),
        (str(tmp_path / "made" / "dog-upscaled.png"), 27, 21),
    ]
    assert (found["upscaler"], found["architecture"]) == ("SPAN", "SPAN")
    assert found["device"]
    with Image.open(found["images"][1]["path"]) as image:
        assert image.mode == "RGBA"


@pytest.mark.parametrize("typed", ["{folder}", "{folder}/*.png", "{folder}/cat.png {folder}"])
def test_a_folder_and_a_pattern_stand_for_their_pictures(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    Image.fromarray(pixels(7, 9)).save(tmp_path / "dog.png")
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "folder.png").mkdir()
    wanted = typed.format(folder=source.parent).split()
    made = tmp_path / "made"
    arguments = ["upscale", *wanted, "--model", "area", "--scale", "2", "--output", str(made)]
    assert run([*arguments, "--json"]) == 0
    found = told(capsys)
    assert [upscaled["source"] for upscaled in found["images"]] == [
        str(tmp_path / "cat.png"),
        str(tmp_path / "dog.png"),
    ]
    assert sorted(path.name for path in made.iterdir()) == ["cat-upscaled.png", "dog-upscaled.png"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "has no PNG, JPEG or WebP file"),
        ("*.webp", "matches no PNG, JPEG or WebP file"),
        ("cat[1].png", "matches no PNG, JPEG or WebP file"),
    ],
)
def test_a_folder_or_pattern_without_pictures_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, words: str
) -> None:
    arguments = ["upscale", f"{tmp_path}/{typed}", "--model", "area", "--scale", "2"]
    with pytest.raises(SystemExit):
        run(arguments)
    assert words in capsys.readouterr().err


def test_brackets_in_the_name_of_a_picture_are_no_pattern(source: Path, tmp_path: Path) -> None:
    source.rename(tmp_path / "cat [1].png")
    target = tmp_path / "made" / ""
    arguments = ["upscale", str(tmp_path / "cat [1].png"), "--model", "area", "--scale", "2"]
    assert run([*arguments, "--out", f"{target}/"]) == 0
    assert [path.name for path in target.iterdir()] == ["cat [1]-upscaled.png"]


@pytest.mark.parametrize("method", ["lanczos", "area"])
def test_a_method_needs_no_file_and_no_device(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    target = tmp_path / "exact.webp"
    arguments = ["upscale", str(source), "--model", method, "--size", "31x90"]
    assert run([*arguments, "--output", str(target), "--json"]) == 0
    found = told(capsys)
    assert (found["architecture"], found["device"]) == (None, None)
    assert size_of(target) == (31, 90)
    record = read_record(target)
    assert record is not None
    assert isinstance(record.upscales, tuple)
    assert record.upscales[0].name == method


def test_an_upscaler_is_found_by_its_name_in_the_folder_of_upscalers(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = find_paths().models / "upscale_models"
    folder.mkdir(parents=True)
    file_of(folder, "PLKSR")
    for name in ("PLKSR", "PLKSR.safetensors"):
        target = tmp_path / name / "large.png"
        arguments = ["upscale", str(source), "--model", name, "--output", str(target), *CPU]
        assert run(arguments) == 0
        assert size_of(target) == (48, 40)
    capsys.readouterr()
    # A checkpoint of that name elsewhere is none.
    write_sparse(find_paths().models / "sharp.safetensors", SMALL)
    assert run(["upscale", str(source), "--model", "sharp", *CPU]) == 1
    assert "There is no upscaler sharp" in capsys.readouterr().err


def test_nothing_is_overwritten(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "large.png"
    for _ in range(2):
        arguments = ["upscale", str(source), "--model", "area", "--scale", "2"]
        assert run([*arguments, "--output", str(target)]) == 0
    assert size_of(tmp_path / "large-1.png") == (48, 40)


def test_the_format_and_the_privacy_of_the_settings_hold(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    find_paths().config.mkdir(parents=True, exist_ok=True)
    (find_paths().config / FILE).write_text('picture_format = "jpeg"\nmetadata = false\n')
    assert run(["upscale", str(source), "--model", "lanczos", "--scale", "2"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name == "cat-upscaled.jpg"
    assert path.parent == find_paths().output
    assert read_record(path) is None


def test_a_transparent_picture_is_on_white_in_a_jpeg(tmp_path: Path) -> None:
    clear = np.zeros((6, 6, 4), np.uint8)
    Image.fromarray(clear).save(tmp_path / "clear.png")
    target = tmp_path / "white.jpg"
    arguments = ["upscale", str(tmp_path / "clear.png"), "--model", "lanczos", "--scale", "2"]
    assert run([*arguments, "--output", str(target)]) == 0
    with Image.open(target) as image:
        assert np.asarray(image).min() > 250


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ((), 2, "--model"),
        (("--model", "lanczos"), 2, "lanczos has no scale of its own"),
        (("--model", "area", "--scale", "0"), 2, "is no scale"),
        (("--model", "area", "--scale", "nan"), 2, "is no scale"),
        (("--model", "area", "--scale", "2", "--size", "9x9"), 2, "not allowed with"),
        (("--model", "area", "--scale", "2", "--tile", "3"), 2, "no side of a tile"),
        (
            ("--model", "area", "--scale", "2", "--resample", "best"),
            2,
            "is none of lanczos, bicubic, bilinear, area, nearest",
        ),
        (("--model", "gone.pth"), 1, "gone.pth is not in"),
        (("--model", "lanczos", "--size", "20000x20000"), 1, "89 million pixels is the most"),
        (("--model", "lanczos", "--scale", "2", "--output", "x.tiff"), 1, "not as .tiff"),
    ],
)
def test_options_without_sense_are_refused(
    source: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    status: int,
    words: str,
) -> None:
    try:
        found = run(["upscale", str(source), *options])
    except SystemExit as ended:
        found = ended.code
    assert found == status
    assert words in capsys.readouterr().err


def test_a_file_that_is_no_picture_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.png").write_text("no picture")
    assert run(["upscale", str(tmp_path / "text.png"), "--model", "area", "--scale", "2"]) == 1
    assert "text.png cannot be read" in capsys.readouterr().err


def test_pictures_before_one_that_fails_are_kept(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.png").write_text("no picture")
    arguments = ["upscale", str(source), str(tmp_path / "text.png"), "--model", "area"]
    assert run([*arguments, "--scale", "2", "--output", str(tmp_path / "made")]) == 1
    assert capsys.readouterr().out == f"{tmp_path / 'made' / 'cat-upscaled.png'}\n"


def test_another_kind_of_model_is_named(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(tmp_path, "ESRGAN", lambda name: f"{name}.lora_down.weight")
    assert run(["upscale", str(source), "--model", str(path), *CPU]) == 1
    assert "is a LoRA, not an upscaler" in capsys.readouterr().err
