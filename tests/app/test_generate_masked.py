"""`safelight generate` with a mask and with a canvas that grows, on the starter model."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from tests.metadata.records import read_record

# A size whose cells are whole, and what is white of the mask.
SIDE = 96
WHITE = (slice(32, 72), slice(24, 64))


@pytest.fixture
def init(tmp_path: Path) -> Path:
    small = np.random.default_rng(0).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    path = tmp_path / "init.png"
    Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(path)
    return path


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[WHITE] = 255
    path = tmp_path / "mask.png"
    Image.fromarray(levels).save(path)
    return path


def generate(out: Path, *arguments: str | Path) -> int:
    asked = ["generate", "a red house", "--backend", "cpu", "--steps", "4", "--seed", "7"]
    return run([*asked, "--out", str(out), *map(str, arguments)])


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image).astype(int)


def test_pixels_under_black_stay_and_pixels_under_white_are_painted(
    tmp_path: Path, init: Path, mask: Path
) -> None:
    out, again = tmp_path / "out.png", tmp_path / "again.png"
    assert generate(out, "--init", init, "--mask", mask, "--mask-blur", "0") == 0
    made, before = pixels(out), pixels(init)
    assert made.shape == before.shape
    painted = np.zeros((SIDE, SIDE), bool)
    painted[WHITE] = True
    assert np.array_equal(made[~painted], before[~painted])
    assert np.abs(made - before)[painted].mean() > 5
    assert run(["generate", "--from", str(out), "--out", str(again)]) == 0
    assert np.array_equal(pixels(again), made)
    inverted = tmp_path / "inverted.png"
    options = ("--mask-blur", "0", "--mask-invert")
    assert generate(inverted, "--init", init, "--mask", mask, *options) == 0
    assert np.array_equal(pixels(inverted)[painted], before[painted])


def test_the_tools_that_paste_nothing_keep_it_all_the_same(
    tmp_path: Path, init: Path, mask: Path
) -> None:
    kept = np.ones((SIDE, SIDE), bool)
    kept[20:84, 12:76] = False
    before = pixels(init)
    for tool in ("comfy", "diffusers", "invoke"):
        out = tmp_path / f"{tool}.png"
        assert generate(out, "--init", init, "--mask", mask, "--convention", tool) == 0
        differences = np.abs(pixels(out) - before)
        # The VAE has had a hand in it.
        assert 0 < differences[kept].mean() < 12
        assert differences[WHITE].mean() > 2 * differences[kept].mean()


def test_only_what_is_masked_is_painted_in_the_size_of_the_whole(
    tmp_path: Path, init: Path, mask: Path
) -> None:
    out = tmp_path / "out.png"
    only = ("--only-masked", "--mask-padding", "8", "--mask-blur", "0", "--size", "64x64")
    assert generate(out, "--init", init, "--mask", mask, *only) == 0
    made, before = pixels(out), pixels(init)
    assert made.shape == before.shape
    rest = np.ones((SIDE, SIDE), bool)
    rest[WHITE] = False
    assert np.array_equal(made[rest], before[rest])
    record = read_record(out)
    assert record is not None
    assert (record.request.width, record.request.height) == (64, 64)


def test_the_canvas_grows(tmp_path: Path, init: Path) -> None:
    out, again = tmp_path / "out.png", tmp_path / "again.png"
    assert generate(out, "--init", init, "--expand", "32,0,10,0", "--feather", "16") == 0
    made = pixels(out)
    # 10 more make no whole number of cells.
    assert made.shape == (SIDE, 32 + SIDE + 16, 3)
    assert np.array_equal(made[:, 32 + 16 : 32 + SIDE - 16], pixels(init)[:, 16:-16])
    assert made[:, :32].std() > 3
    assert run(["generate", "--from", str(out), "--out", str(again)]) == 0
    assert np.array_equal(pixels(again), made)


@pytest.mark.parametrize("content", ["fill", "latent_noise", "latent_nothing"])
def test_the_start_of_the_masked_part_changes_the_picture(
    tmp_path: Path, init: Path, mask: Path, content: str
) -> None:
    chosen, usual = tmp_path / "chosen.png", tmp_path / "usual.png"
    given = ("--init", init, "--mask", mask, "--strength", "0.5")
    assert generate(usual, *given) == 0
    assert generate(chosen, *given, "--mask-content", content) == 0
    assert np.abs(pixels(chosen) - pixels(usual))[WHITE].mean() > 1


def test_a_new_picture_is_not_masked_as_the_one_before(
    tmp_path: Path, init: Path, mask: Path
) -> None:
    out, again = tmp_path / "out.png", tmp_path / "again.png"
    assert generate(out, "--init", init, "--mask", mask, "--mask-blur", "9") == 0
    options = ["--from", str(out), "--init", str(init), "--out", str(again)]
    assert run(["generate", *options]) == 0
    record = read_record(again)
    assert record is not None
    assert [image.role.value for image in record.request.inputs] == ["init"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mask", "m.png"], "--init"),
        (["--expand", "8,0,0,0"], "--init"),
        (["--init", "i.png", "--mask-blur", "4"], "--mask FILE"),
        (["--init", "i.png", "--mask-invert"], "--mask FILE"),
        (["--init", "i.png", "--mask-content", "fill"], "--mask FILE"),
        (["--init", "i.png", "--only-masked"], "--mask FILE"),
        (["--init", "i.png", "--mask-padding", "0"], "--mask FILE"),
        (["--init", "i.png", "--feather", "8"], "--expand"),
        (["--init", "i.png", "--expand", "8,8"], "LEFT,TOP,RIGHT,BOTTOM"),
        (["--init", "i.png", "--expand", "-8,0,0,0"], "LEFT,TOP,RIGHT,BOTTOM"),
    ],
    ids=" ".join,
)
def test_options_that_make_no_sense_together(
    tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = generate(tmp_path / "out.png", *arguments)
    except SystemExit as exit_:  # argparse's
        status = exit_.code
    assert status == 2
    assert said in capsys.readouterr().err


def test_a_mask_that_is_none_or_paints_nothing_is_refused(
    tmp_path: Path, init: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mask = tmp_path / "mask.png"
    mask.write_bytes(b"no picture")
    assert generate(tmp_path / "out.png", "--init", init, "--mask", mask) == 1
    assert f"The mask {mask} cannot be read: " in capsys.readouterr().err
    Image.new("L", (SIDE, SIDE), 0).save(mask)
    assert generate(tmp_path / "out.png", "--init", init, "--mask", mask) == 1
    assert "Nothing would be painted" in capsys.readouterr().err
    assert generate(tmp_path / "out.png", "--init", init, "--mask", mask, "--mask-invert") == 0
