"""`safelight inspect` and `generate` on checkpoints that need a word from a person."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from app.cli import run
from app.paths import find_paths
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import VAE
from tests.families.test_identify import SMALL
from tests.metadata.records import read_record
from tests.unstated_checkpoint import PREDICTS_NOISE, write_unstated


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def without_vae(tmp_path: Path) -> Path:
    names = {name: shape for name, shape in SMALL.items() if not name.startswith(VAE)}
    return write_sparse(tmp_path / "mine.safetensors", names)


def put_vae(models: Path) -> Path:
    folder = models / "vae"
    folder.mkdir(parents=True)
    return write_sparse(folder / "my vae.safetensors", listings.ldm_vae(listings.EIGHTFOLD_VAE))


def test_a_missing_part_is_told_with_the_option_that_supplies_it(
    without_vae: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", str(without_vae)]) == 0
    assert "vae            missing: supply it with --vae FILE" in capsys.readouterr().out
    vae = put_vae(find_paths().models)
    (gap,) = json_of(capsys, "inspect", str(without_vae))["gaps"]
    assert [fit["path"] for fit in gap["fits"]] == [str(vae)]
    assert run(["inspect", str(without_vae)]) == 0
    assert f"--vae {shlex.quote(str(vae))}" in capsys.readouterr().out
    assert run(["generate", "a house", "--model", str(without_vae)]) == 1
    assert f"--vae {shlex.quote(str(vae))}" in capsys.readouterr().err


def test_a_missing_part_is_looked_for_in_the_folder_of_a_tool(
    without_vae: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tool = tmp_path / "ComfyUI"
    vae = put_vae(tool / "models")
    monkeypatch.setenv("SAFELIGHT_LORAS", str(tool))
    (gap,) = json_of(capsys, "inspect", str(without_vae))["gaps"]
    assert [fit["path"] for fit in gap["fits"]] == [str(vae)]
    assert run(["generate", "a house", "--model", str(without_vae)]) == 1
    assert f"--vae {shlex.quote(str(vae))}" in capsys.readouterr().err


def test_a_persons_word_counts_where_files_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_unstated(tmp_path / "found.safetensors", PREDICTS_NOISE)
    result = json_of(capsys, "inspect", str(path))
    assert (result["prediction"], result["prediction_is_stated"]) == ("epsilon", False)
    result = json_of(capsys, "inspect", str(path), "--prediction", "v_prediction")
    assert (result["prediction"], result["prediction_is_stated"]) == ("v_prediction", True)
    assert "you say so" in result["evidence"][-1]
    assert result["default_size"] == 768


def test_a_family_that_the_shapes_rule_out_is_refused(
    without_vae: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", str(without_vae), "--family", "sdxl"]) == 1
    error = capsys.readouterr().err
    assert "cannot be taken for SDXL: its UNet projects by convolution" in error
    assert "It is SD 1.x." in error


def test_the_record_keeps_a_persons_word_and_the_picture_is_made_again_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_unstated(tmp_path / "found.safetensors", PREDICTS_NOISE)
    common = ["--steps", "2", "--size", "64x64", "--backend", "cpu"]
    said = ["--model", str(path), "--prediction", "v_prediction"]
    first = json_of(
        capsys, "generate", "a house", *said, *common, "--out", str(tmp_path / "a.png")
    )["images"][0]["path"]
    again = json_of(capsys, "generate", "--from", first, "--out", str(tmp_path / "b.png"))
    for made in (first, again["images"][0]["path"]):
        record = read_record(Path(made))
        assert record is not None
        assert record.prediction == "v_prediction"
        assert record.request.override.prediction == "v_prediction"
    other = json_of(
        capsys, "generate", "--from", first, "--model", str(path), "--out", str(tmp_path / "c.png")
    )
    record = read_record(Path(other["images"][0]["path"]))
    assert record is not None
    assert record.prediction == "epsilon"


def test_cards_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL)
    card = {"baseModel": "SDXL 1.0", "trainedWords": ["neon style"], "model": {"name": "Neon"}}
    (tmp_path / "x.civitai.info").write_text(json.dumps(card))
    assert run(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert "trained words  neon style" in out
    assert "x.civitai.info: SDXL 1.0, but its shapes are SD 1.x's" in out


def test_names_from_strangers_do_not_reach_the_terminal_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_sparse(tmp_path / "a\x1b[31m\nb.safetensors", SMALL)
    assert run(["inspect", str(path)]) == 0
    broken = tmp_path / "c\x1b[31m\n.safetensors"
    broken.touch()
    assert run(["inspect", str(broken)]) == 1
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "\x1b" not in text
    assert captured.err.count("\n") == 1
