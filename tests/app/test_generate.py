"""`safelight generate` as a user runs it, on the starter model."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from app.cli.stated_models import with_stated_models
from app.paths import find_paths, starter_checkpoint
from app.settings.reading import FILE
from engine.api.noise_rules import RandomSource
from engine.api.values import SamplerName, ScheduleName
from engine.metadata.readers import read_request
from tests.metadata.readers.pictures import jpeg, user_comment
from tests.metadata.records import read_record

# For a process on a machine that is busy with others.
_PATIENCE_S = 120.0
SMALL = ("--steps", "2", "--size", "64x64", "--seed", "7")
# For what is told beside the picture: its networks run in the tests of the picture itself.
NO_NETWORKS = ("--backend", "null")


def generate(out: Path, *arguments: str) -> int:
    return run(["generate", "a red house", "--out", str(out), *SMALL, *arguments])


def result_of(capsys: pytest.CaptureFixture[str]) -> Any:
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def pixels(path: Path | str) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def test_prints_the_path_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path / "new folder" / "ä picture.png") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [str(tmp_path / "new folder" / "ä picture.png")]
    assert captured.err == ""
    assert pixels(captured.out.strip()).shape == (64, 64, 3)


def test_json_has_the_promised_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(tmp_path, "--json", "--count", "2", "--size", "96x64") == 0
    result = result_of(capsys)
    assert [(i["seed"], i["width"], i["height"]) for i in result["images"]] == [
        (7, 96, 64),
        (8, 96, 64),
    ]
    assert all(Path(image["path"]).is_file() for image in result["images"])
    assert result["family"] == "sd1"
    assert set(result["timings"]) == {
        *("load_s", "compile_s", "encode_s", "denoise_s", "enlarge_s"),
        *("decode_s", "save_s", "total_s"),
    }
    parts = [value for name, value in result["timings"].items() if name != "total_s"]
    assert 0 < sum(parts) <= result["timings"]["total_s"]
    if sys.platform == "linux":
        assert result["memory"]["peak_private_mb"] > 10


def test_pictures_are_written_as_the_settings_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / FILE).write_text('picture_format = "webp"\nfile_name = "{seed}"\n')
    small = ("--steps", "1", "--size", "64x64", "--seed", "5")
    assert run(["generate", "a cat", *small, *NO_NETWORKS]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == tmp_path / "output" / "5.webp"
    assert read_record(path) is not None


def test_default_folder_is_the_output_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", "a red house", *SMALL, *NO_NETWORKS]) == 0
    assert Path(capsys.readouterr().out.strip()).parent == tmp_path / "output"


def test_the_same_seed_makes_the_same_picture_and_another_another(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert generate(tmp_path / f"{name}.png", "--seed", seed) == 0
    first, again, other = (pixels(tmp_path / f"{name}.png") for name in "abc")
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("backend", ["cpu", "intel_openvino"])
def test_from_a_picture_makes_the_same_pixels(tmp_path: Path, backend: str) -> None:
    """Every option that shapes the picture must travel through its record."""
    first, again = tmp_path / "first.png", tmp_path / "again.png"
    shaping = (
        "--sampler",
        "DPM++ 2M SDE",
        "--schedule",
        "beta",
        "--cfg",
        "3.5",
        "--clip-skip",
        "2",
    )
    assert generate(first, "--negative", "blue (sky:1.4)", "--backend", backend, *shaping) == 0
    assert run(["generate", "--from", str(first), "--out", str(again)]) == 0
    assert np.array_equal(pixels(first), pixels(again))


@pytest.mark.parametrize(
    ("sampler", "size", "expected"),
    [
        ("euler_ancestral", "64X64", (SamplerName.EULER_ANCESTRAL, ScheduleName.NORMAL)),
        ("DPM++ 2M Karras", "64 x 64", (SamplerName.DPMPP_2M, ScheduleName.KARRAS)),
        ("k_dpm_2_ancestral", "64\u00d764", (SamplerName.DPM2_ANCESTRAL, ScheduleName.KARRAS)),
        ("uni_pc_bh2", "64*64", (SamplerName.UNIPC_BH2, ScheduleName.NORMAL)),
    ],
)
def test_samplers_and_sizes_are_known_by_any_tools_spelling(
    tmp_path: Path, sampler: str, size: str, expected: tuple[SamplerName, ScheduleName]
) -> None:
    out = tmp_path / "out.png"
    asked = ("--sampler", sampler, "--size", size, *NO_NETWORKS)
    assert run(["generate", "a", *SMALL, *asked, "--out", str(out)]) == 0
    record = read_record(out)
    assert record is not None
    assert (record.request.sampler, record.request.schedule) == expected
    assert (record.request.width, record.request.height) == (64, 64)


def test_signs_of_another_grammar_are_said_to_be_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.png"
    asked = ("{2$$red|green} house", *SMALL, *NO_NETWORKS)
    assert run(["generate", *asked, "--out", str(out)]) == 0
    assert (
        "{2$$ in the prompt is no wildcard here; it was drawn as words." in capsys.readouterr().err
    )


def test_a_schedule_beside_the_samplers_own_name_for_one_counts(tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    asked = ("--sampler", "DPM++ 2M Karras", "--schedule", "ddim_uniform")
    assert run(["generate", "a", *SMALL, *NO_NETWORKS, *asked, "--out", str(out)]) == 0
    record = read_record(out)
    assert record is not None
    assert record.request.schedule is ScheduleName.DDIM


def test_from_finds_the_starter_wherever_it_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved, first, again = tmp_path / "moved", tmp_path / "first.png", tmp_path / "again.png"
    shutil.copytree(starter_checkpoint(), moved)
    assert generate(first, "--model", str(moved)) == 0
    shutil.rmtree(moved)
    assert run(["generate", "--from", str(first), "--out", str(again)]) == 0
    assert np.array_equal(pixels(first), pixels(again))
    assert capsys.readouterr().err == ""


def test_from_says_when_the_checkpoint_has_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, first = tmp_path / "copy", tmp_path / "first.png"
    shutil.copytree(starter_checkpoint(), copy)
    assert generate(first, "--model", str(copy), *NO_NETWORKS) == 0
    weights = copy / "unet" / "diffusion_pytorch_model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-4096:] = bytes(4096)
    weights.write_bytes(content)
    again = ("--from", str(first), "--out", str(tmp_path / "again.png"), *NO_NETWORKS)
    assert run(["generate", *again]) == 0
    assert "model has changed" in capsys.readouterr().err


def test_options_change_what_from_takes(tmp_path: Path) -> None:
    first, again = tmp_path / "first.png", tmp_path / "again.png"
    assert generate(first) == 0
    assert run(["generate", "--from", str(first), "--seed", "8", "--out", str(again)]) == 0
    assert not np.array_equal(pixels(first), pixels(again))
    record = read_record(again)
    assert record is not None
    assert record.request.seed == 8
    assert record.request.prompt == "a red house"


def test_from_chooses_the_only_model_that_another_tool_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, folder = tmp_path / "other.jpg", find_paths().models / "Stable-diffusion"
    line = "Steps: 2, Sampler: Euler a, Seed: 9, Size: 64x128, Model: Mix_v1.5, Version: v1.10.1"
    other.write_bytes(jpeg((0xE1, b"Exif\0\0" + user_comment(f"a house\n{line}"))))
    folder.mkdir(parents=True)
    (folder / "mix_v1.5.safetensors").touch()
    assert run(["generate", "--from", str(other)]) == 1
    # The model's own fault tells that it was chosen.
    assert capsys.readouterr().err == (
        "safelight: mix_v1.5.safetensors is empty. Download it again.\n"
    )
    source = read_request(other)
    assert with_stated_models(source, first=False) == source
    (folder / "more").mkdir()
    (folder / "more" / "mix_v1.5.ckpt").touch()
    assert with_stated_models(source, first=True) == source, "either may be meant"


def test_from_chooses_the_model_of_a_second_pass(tmp_path: Path) -> None:
    models = find_paths().models
    models.mkdir(parents=True)
    for name in ("mix.safetensors", "fine.safetensors"):
        (models / name).touch()
    line = (
        "Steps: 2, Sampler: Euler a, Seed: 9, Size: 64x128, Model: mix, Denoising strength: 0.5, "
        "Hires upscale: 2, Hires upscaler: Latent, Hires checkpoint: sub/fine.safetensors [aa], "
        "Version: v1.10.1"
    )
    other = tmp_path / "other.jpg"
    other.write_bytes(jpeg((0xE1, b"Exif\0\0" + user_comment(f"a house\n{line}"))))
    found = with_stated_models(read_request(other), first=True)
    assert found.request.checkpoint == str(models / "mix.safetensors")
    (second,) = found.request.second_passes
    assert second.checkpoint == str(models / "fine.safetensors")
    assert not [warning for warning in found.warnings if "choose it" in warning]


def test_from_chooses_the_vae_with_the_model_that_another_tool_names(tmp_path: Path) -> None:
    models = find_paths().models
    (models / "vae").mkdir(parents=True)
    (models / "mix.safetensors").touch()
    (models / "vae" / "soft.pt").touch()
    line = "Steps: 2, Sampler: Euler a, Seed: 9, Size: 64x128, Model: mix, VAE: soft.pt"
    other = tmp_path / "other.jpg"
    other.write_bytes(jpeg((0xE1, b"Exif\0\0" + user_comment(f"a house\n{line}"))))
    source = read_request(other)
    found = with_stated_models(source, first=True)
    assert found.request.components.vae == str(models / "vae" / "soft.pt")
    assert found.warnings == ()
    assert with_stated_models(source, first=False) == source


def test_from_takes_pictures_of_other_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, again = tmp_path / "other.jpg", tmp_path / "again.png"
    line = "Steps: 2, Sampler: Euler a, Seed: 9, Size: 64x128, Model: mix, Version: v1.10.1"
    other.write_bytes(jpeg((0xE1, b"Exif\0\0" + user_comment(f"a house\n{line}"))))
    assert run(["generate", "--from", str(other), "--out", str(again), *NO_NETWORKS]) == 0
    assert 'made with the model "mix"' in capsys.readouterr().err
    record = read_record(again)
    assert record is not None
    assert (record.request.prompt, record.request.seed) == ("a house", 9)
    assert (record.request.width, record.request.height) == (64, 128)
    assert record.request.convention.random_source is RandomSource.CUDA


def test_strength_says_how_much_of_the_init_picture_stays(tmp_path: Path) -> None:
    source = tmp_path / "source.png"
    ramp = np.linspace(0, 255, 64, dtype=np.uint8)
    Image.fromarray(np.stack([np.tile(ramp, (64, 1))] * 3, axis=-1)).save(source)
    distances: list[float] = []
    for strength in ("0.1", "0.9"):
        out = tmp_path / f"{strength}.png"
        arguments = ("--init", str(source), "--strength", strength, "--steps", "10")
        assert generate(out, *arguments) == 0
        change = pixels(out).astype(float) - pixels(source)
        distances.append(float(np.abs(change).mean()))
    assert distances[0] < distances[1]


def test_a_memory_limit_makes_a_working_copy_and_the_same_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copies = tmp_path / "cache" / "weights"
    assert generate(tmp_path / "plain.png", "--json") == 0
    memory = result_of(capsys)["memory"]
    assert memory["weights"] == "memory_then_copy"
    # Written already where the disk is ample.
    shutil.rmtree(copies, ignore_errors=True)
    limit = f"{memory['planned_peak_mb'] * 1e6 / 2**20 - 4}M"
    assert generate(tmp_path / "limited.png", "--json", "--memory-limit", limit) == 0
    assert result_of(capsys)["memory"]["weights"] == "working_copy"
    assert list(copies.glob("*.safetensors"))
    assert np.array_equal(pixels(tmp_path / "plain.png"), pixels(tmp_path / "limited.png"))


def test_a_picture_that_does_not_fit_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path, "--size", "8192x8192", "--memory-limit", "2G") == 1
    error = capsys.readouterr().err
    assert "8192 \u00d7 8192" in error
    assert "--memory-limit" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "8x64"], "width is 8"),
        (["--size", "100000x64"], "width is 100,000"),
        (["--size", "65x64"], "64 and 72 are the nearest"),
        (["--steps", "0"], "number of steps"),
        (["--cfg", "nan"], "guidance"),
        (["--seed", "-5"], "seed"),
        (["--count", "0"], "count"),
        (["--clip-skip", "99"], "clip skip"),
        (["--precision", "f16"], "cannot compute in f16"),
        (["--backend", "null", "--weights", "8"], "cannot keep weights in 8 bits"),
        (["--backend", "quantum"], "no backend quantum"),
        (["--model", "no/such/file.safetensors"], "file.safetensors is not in "),
        (["--init", "no/such/picture.png"], "no/such/picture.png"),
        (["--vae", "no/such/vae.safetensors"], "vae.safetensors"),
        (["--out", "picture.tiff"], "PNG"),
    ],
)
def test_mistakes_get_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], words: str
) -> None:
    assert generate(tmp_path / "out.png", *arguments) == 1
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--strength", "0.5"], "--init"),
        (["--size", "huge"], "512x768"),
        (["--sampler", "guess"], "guess"),
        (["--memory-limit", "much"], "4G"),
    ],
)
def test_wrong_usage_has_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], words: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        generate(tmp_path / "out.png", *arguments)
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("prompt", ["", "\0", "(((((", "🏠" * 500, "a BREAK b AND [c", "x " * 3000])
def test_odd_prompts_make_a_picture(tmp_path: Path, prompt: str) -> None:
    out = tmp_path / "out.png"
    assert run(["generate", prompt, "--out", str(out), *SMALL]) == 0
    record = read_record(out)
    assert record is not None
    assert record.request.prompt == prompt


def test_a_prompt_of_100_kb_is_refused_with_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", "house, " * 15000, "--out", str(tmp_path), *SMALL]) == 1
    assert "tokens" in capsys.readouterr().err


@pytest.mark.parametrize("component", ["text_encoder/model", "unet/diffusion_pytorch_model"])
def test_nan_weights_are_never_called_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], component: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(starter_checkpoint(), copy)
    weights = copy / f"{component}.safetensors"
    content = bytearray(weights.read_bytes())
    content[-(1 << 20) :] = b"\xff" * (1 << 20)  # float16 not-a-numbers
    weights.write_bytes(content)
    assert generate(tmp_path / "out.png", "--model", str(copy)) == 1
    assert "not a number" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


def test_an_unwritable_folder_is_found_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert generate(tmp_path / "file" / "sub" / "out.png") == 1
    assert "--out" in capsys.readouterr().err


def start(out: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "app", "generate", "a red house", "--out", str(out)]
    return subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(
    sys.platform == "win32", reason="a console's Ctrl-C cannot be sent to one child"
)
def test_ctrl_c_cancels_cleanly(tmp_path: Path) -> None:
    folder, preview = tmp_path / "out", tmp_path / "preview.png"
    process = start(folder, "--steps", "1000", "--count", "50", "--preview", str(preview))
    try:
        # The first picture is long in coming; its preview is there once its steps run.
        end = time.monotonic() + _PATIENCE_S
        while not preview.exists():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=_PATIENCE_S)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 1
    assert out == ""
    assert error == "safelight: Cancelled.\n"
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_killed_run_leaves_only_whole_pictures(tmp_path: Path) -> None:
    process = start(tmp_path, *SMALL, "--count", "500")
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    pictures = list(tmp_path.glob("*.png"))
    assert len(pictures) >= 3
    for picture in pictures:
        assert pixels(picture).shape == (64, 64, 3)
        assert read_record(picture) is not None


def test_the_starter_ships() -> None:
    files = [path for path in starter_checkpoint().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 32_000_000


def test_a_preview_is_written_while_the_picture_grows(tmp_path: Path) -> None:
    preview = tmp_path / "preview.png"
    assert generate(tmp_path / "a.png", "--preview", str(preview)) == 0
    # One for each cell of the latent, by the starter's linear factors.
    assert pixels(preview).shape == (8, 8, 3)
    assert pixels(preview).std() > 1


def test_tiles_of_the_vae_make_the_same_picture_but_for_rounding(tmp_path: Path) -> None:
    for name, tiling in (("whole", ()), ("tiled", ("--vae-tiling", "256"))):
        arguments = ("--size", "320x256", "--steps", "3", "--backend", "cpu", *tiling)
        assert generate(tmp_path / f"{name}.png", *arguments) == 0
    whole, tiled = (pixels(tmp_path / f"{name}.png") for name in ("whole", "tiled"))
    error = np.mean((whole.astype(np.float64) - tiled) ** 2)
    assert 0 < error < 255**2 / 1e4  # 40 dB
    recorded = [read_record(tmp_path / f"{name}.png") for name in ("whole", "tiled")]
    assert [record.request.vae_tile for record in recorded if record] == [None, 256]


def test_a_picture_is_made_again_from_tiles_in_tiles(tmp_path: Path) -> None:
    first, second, init = (tmp_path / f"{name}.png" for name in ("first", "second", "init"))
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 320, 3), np.uint8)).save(init)
    arguments = (
        "--size",
        "320x64",
        "--vae-tiling",
        "256",
        "--init",
        str(init),
        "--backend",
        "cpu",
    )
    assert generate(first, *arguments) == 0
    assert run(["generate", "--from", str(first), "--out", str(second)]) == 0
    np.testing.assert_array_equal(pixels(first), pixels(second))


@pytest.mark.parametrize("tile", ["255", "9000"])
def test_a_tile_of_no_use_is_refused(
    tmp_path: Path, tile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path / "a.png", "--vae-tiling", tile) == 1
    assert "tile" in capsys.readouterr().err
