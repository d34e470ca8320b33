"""The sources of the prediction type, in their order."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.checkpoints.safetensors import read_index
from engine.families import identify
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.test_identify import SMALL

KEYED = {**SMALL, "v_pred": (0,)}


@pytest.mark.parametrize(
    ("names", "metadata", "says"),
    [
        (SMALL, {"modelspec.prediction_type": "v"}, "modelspec.prediction_type v"),
        (SMALL, {"modelspec.prediction_type": "v_prediction"}, "modelspec"),
        (SMALL, {"ss_v_parameterization": "True"}, "ss_v_parameterization"),
        (SMALL, {"modelspec.predict_key": "v"}, "modelspec.predict_key v"),
        (KEYED, {}, "key v_pred"),
        # Metadata that a merge has from another model.
        (KEYED, {"modelspec.prediction_type": "epsilon"}, "key v_pred"),
    ],
)
def test_v_prediction_in_the_file(
    tmp_path: Path, names: dict[str, tuple[int, ...]], metadata: dict[str, str], says: str
) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names, metadata=metadata))
    assert checkpoint.prediction is PredictionType.V
    assert says in str(checkpoint.evidence[-1])


@pytest.mark.parametrize(
    ("names", "metadata", "says"),
    [
        ({**KEYED, "ztsnr": (0,)}, {}, "key ztsnr"),
        (KEYED, {"ss_zero_terminal_snr": "True"}, "ss_zero_terminal_snr"),
    ],
)
def test_levels_that_reach_noise_alone(
    tmp_path: Path, names: dict[str, tuple[int, ...]], metadata: dict[str, str], says: str
) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names, metadata=metadata))
    assert checkpoint.zero_terminal_snr
    assert checkpoint.prediction is PredictionType.V
    assert says in str(checkpoint.evidence[-1])
    usual = identify(write_sparse(tmp_path / "y.safetensors", KEYED))
    assert not usual.zero_terminal_snr


@pytest.mark.parametrize(
    "metadata",
    [
        {"ss_v_parameterization": "False"},
        {"modelspec.prediction_type": "unheard of"},
        {"modelspec.predict_key": "epsilon"},
        {"v": "v"},
    ],
)
def test_noise_prediction_is_assumed_where_nothing_states_another(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", SMALL, metadata=metadata))
    assert checkpoint.prediction is PredictionType.EPSILON
    because = "noise prediction because nothing says otherwise"
    assert str(checkpoint.evidence[-1]) == f"SD 1.x, {because}"


_SCALING = "sgm.modules.diffusionmodules.denoiser_scaling"


@pytest.mark.parametrize(
    ("line", "prediction"),
    [
        ('    parameterization: "v"', PredictionType.V),
        # A1111's `configs/sd_xl_v.yaml`, and what Stability AI's video models have.
        (f"    target: {_SCALING}.VScaling", PredictionType.V),
        (f"    target: {_SCALING}.EpsScaling", PredictionType.EPSILON),
        (f"    target: {_SCALING}.VScalingWithEDMcNoise", PredictionType.EPSILON),
        (f"    # target: {_SCALING}.VScaling", PredictionType.EPSILON),
        ("    parameterization: v", PredictionType.V),
        ("    parameterization: eps", PredictionType.EPSILON),
        ("    # parameterization: v", PredictionType.EPSILON),
        ("    parameterization: vague", PredictionType.EPSILON),
    ],
)
def test_a_sidecar_states_the_prediction_type(
    tmp_path: Path, line: str, prediction: PredictionType
) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL)
    (tmp_path / "x.yaml").write_text(f"model:\n  params:\n{line}\n    scale_factor: 0.18215\n")
    assert identify(path).prediction is prediction


def test_the_users_sidecar_comes_before_the_file(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", KEYED)
    (tmp_path / "x.yaml").write_text("parameterization: eps\n")
    checkpoint = identify(path)
    assert checkpoint.prediction is PredictionType.EPSILON
    assert "x.yaml" in str(checkpoint.evidence[-1])


def sd2_file(
    path: Path, spread: float, *, in_channels: int = 4, prediction: str | None = None
) -> Path:
    """An SD 2 file whose telling bias spreads so far around zero."""
    unet = replace(listings.SD2, in_channels=in_channels)
    metadata = {"modelspec.prediction_type": prediction} if prediction else {}
    write_sparse(path, listings.sd2(unet), metadata=metadata)
    name = f"{listings.UNET}output_blocks.11.1.transformer_blocks.0.norm1.bias"
    bias = read_index(path).tensors[name]
    values = np.resize(np.array([-spread, spread]), bias.shape).astype(bias.dtype.numpy)
    with path.open("r+b") as file:
        file.seek(bias.offset)
        file.write(values.tobytes())
    return path


def test_sd2_shows_in_its_weights_what_it_predicts(tmp_path: Path) -> None:
    guessed = identify(sd2_file(tmp_path / "768.safetensors", 0.12))
    assert guessed.prediction is PredictionType.V
    assert "norm1.bias is 0.12" in str(guessed.evidence[-1])
    base = identify(sd2_file(tmp_path / "base.safetensors", 0.05))
    assert base.prediction is PredictionType.EPSILON
    inpainting = identify(sd2_file(tmp_path / "inpainting.safetensors", 0.12, in_channels=9))
    assert inpainting.prediction is PredictionType.EPSILON
    stated = identify(sd2_file(tmp_path / "stated.safetensors", 0.12, prediction="epsilon"))
    assert stated.prediction is PredictionType.EPSILON
