"""The starter model through torch's operators: the same picture as everywhere else."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")

from app.cli import run  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

ARGUMENTS = ("generate", "a red house on the left by the sea at night", "--seed", "1")


def picture(capsys, folder: Path, backend: str, precision: str):
    out = str(folder / f"{backend}-{precision}.png")
    chosen = ("--backend", backend, "--precision", precision)
    assert run([*ARGUMENTS, "--steps", "6", *chosen, "--out", out, "--json"]) == 0
    (image,) = json.loads(capsys.readouterr().out)["images"]
    with Image.open(image["path"]) as opened:
        return np.asarray(opened)


def test_the_command_makes_the_picture_of_the_cpu_backend(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFELIGHT_CACHE", str(tmp_path / "cache"))
    expected = picture(capsys, tmp_path, "cpu", "f32")
    # A level of rounding here and there; in half precision the same scene.
    assert psnr(picture(capsys, tmp_path, "torch_device", "f32"), expected) >= 60
    assert psnr(picture(capsys, tmp_path, "torch_device", "auto"), expected) >= 25
