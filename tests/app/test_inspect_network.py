"""`safelight inspect` of networks beside checkpoints."""

import json
from pathlib import Path

import pytest

from app.cli import run
from app.paths import find_paths
from engine.graphs.control_net import UnionConfig
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.control.layouts import original_control_net
from tests.control.small import control_net_arrays, small_control_net
from tests.control.test_flux_nets import SIZES, painting
from tests.control.test_reading import folder_of
from tests.guard.folders import write_sdxl_folder
from tests.image_prompts.files import write_adapter
from tests.pipeline.control_files import write_control_net
from tests.upscalers.small import file_of


def control_net(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, original_control_net(control_net_arrays(small_control_net())))
    return path


def test_a_control_network_is_told_with_its_family_and_its_maps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = control_net(tmp_path / "control_v11p_sd15_canny.safetensors")
    assert run(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "is             a ControlNet for SD 1.x" in said
    assert "maps           canny, by its name" in said
    assert f"--control PICTURE --control-model {path}" in said
    assert run(["inspect", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["network"]["kind"], found["network"]["families"]) == ("controlnet", ["sd1"])
    assert found["maps"] == ["canny"]


def test_a_network_is_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    path = control_net(find_paths().models / "ControlNet" / "depth.safetensors")
    assert run(["inspect", "depth"]) == 0
    assert str(path) in capsys.readouterr().out


def test_folders_and_unions_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(folder_of(tmp_path / "sd-controlnet-hed"))]) == 0
    said = capsys.readouterr().out
    assert "a ControlNet for SD 1.x" in said
    assert "softedge, by its name" in said
    write_sdxl_folder(tmp_path / "sdxl")
    union = UnionConfig(kinds=6, waves=8, layers=1)
    file = write_control_net(tmp_path / "union.safetensors", tmp_path / "sdxl", union=union)
    assert run(["inspect", str(file)]) == 0
    said = capsys.readouterr().out
    assert "a ControlNet for several kinds of maps for SDXL" in said
    assert "maps           pose, depth, " in said


def test_a_kind_that_tensors_state_is_none_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "depth.safetensors"
    write_sparse(file, painting(SIZES))
    assert run(["inspect", str(file)]) == 0
    said = capsys.readouterr().out
    assert "is             a ControlNet for Flux.1" in said
    assert "maps           inpaint\n" in said


def test_adapters_and_upscalers_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter = write_adapter(tmp_path / "plus.safetensors", "plus", [64, 64], 24)
    assert run(["inspect", str(adapter)]) == 0
    said = capsys.readouterr().out
    assert "an IP-Adapter Plus" in said
    assert f"--image-prompt PICTURE --adapter {adapter}" in said
    upscaler = file_of(tmp_path, "ESRGAN").rename(tmp_path / "my upscaler.safetensors")
    assert run(["inspect", str(upscaler)]) == 0
    said = capsys.readouterr().out
    assert "an upscaler (ESRGAN)" in said
    assert "enlarges       4 times" in said
    assert f'safelight upscale PICTURE --model "{upscaler}"' in said


def test_a_network_that_is_not_run_is_an_error_that_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays = original_control_net(control_net_arrays(small_control_net()))
    del arrays["time_embed.0.weight"]
    write_arrays(tmp_path / "cut.safetensors", arrays)
    assert run(["inspect", str(tmp_path / "cut.safetensors")]) == 1
    assert "time_embedding.linear_1.weight is missing" in capsys.readouterr().err
