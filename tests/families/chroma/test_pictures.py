"""Pictures by a tiny Chroma in ComfyUI's layout: one file with transformer, T5 and VAE."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.features import OptionalSetting
from engine.api.second_passes import SecondPass
from engine.api.values import SamplerName, ScheduleName
from engine.families import identify
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.chroma import files
from tests.families.flux.files import drawn
from tests.families.flux.test_pictures import t5_encoder
from tests.families.listings import VaeSizes, prefixed
from tests.pipeline.jobs import RESIDENCY, a_request, run

_VAE = VaeSizes(width=32, multipliers=(1, 1, 1, 1), blocks=1, latent=16)
_LONG = "a house by the sea, " * 20


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vae = {n: s for n, s in listings.ldm_vae(_VAE).items() if "quant_conv" not in n}
    whole = {
        **prefixed("model.diffusion_model.", files.original(files.SMALL)),
        **prefixed("text_encoders.t5xxl.transformer.", t5_encoder(40)),
        **prefixed("vae.", vae),
    }
    path = tmp_path_factory.mktemp("chroma") / "tiny_chroma.safetensors"
    write_arrays(path, drawn(whole))
    return path


def picture(path: Path, **changes: object) -> NDArray[np.uint8]:
    fields: dict[str, object] = {
        "width": 96,
        "height": 64,
        "steps": 2,
        "seed": 7,
        "prompt": "a red house by the sea",
        "negative_prompt": "a blur",
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.SIMPLE,
        "guidance": 3.0,
    }
    request = a_request(path, **(fields | changes))
    return np.asarray(run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0])


def test_one_file_holds_all_parts(checkpoint: Path) -> None:
    found = identify(checkpoint)
    assert (found.family, found.missing) == ("chroma", ())
    assert found.latent.shift == pytest.approx(0.1159)
    assert found.architecture.features.negative_prompt


@pytest.mark.parametrize("convention", ["a1111", "comfy", "diffusers"])
def test_prompts_guidance_and_seed_change_a_picture(checkpoint: Path, convention: str) -> None:
    first = picture(checkpoint, convention=convention)
    assert first.shape == (64, 96, 3)
    np.testing.assert_array_equal(picture(checkpoint, convention=convention), first)
    for changes in (
        {"prompt": "a horse"},
        {"negative_prompt": _LONG},
        {"guidance": 1.0},
        {"seed": 8},
    ):
        assert not np.array_equal(picture(checkpoint, convention=convention, **changes), first)


def test_padding_beside_a_longer_negative_prompt_changes_nothing(checkpoint: Path) -> None:
    """With a guidance near 1 the negative prompt hardly acts, but its length pads the prompt."""
    alone = picture(checkpoint, convention="comfy", guidance=1.0)
    padded = picture(checkpoint, convention="comfy", guidance=1.0001, negative_prompt=_LONG)
    assert np.abs(padded.astype(int) - alone).max() <= 1


def test_a_second_pass_enlarges_and_redraws(checkpoint: Path) -> None:
    assert OptionalSetting.SECOND_PASSES in identify(checkpoint).architecture.features.options
    made = [
        picture(checkpoint, second_passes=(SecondPass(scale=1.5, strength=strength),))
        for strength in (0.3, 0.7)
    ]
    assert made[0].shape == (96, 144, 3)
    assert not np.array_equal(made[0], made[1])
