"""Pictures by a tiny Chroma in ComfyUI's layout: one file with transformer, T5 and VAE."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.families import identify
from tests.checkpoints.arrays import write_arrays
from tests.families import flow_pictures, listings
from tests.families.chroma import files
from tests.families.flow_pictures import check_changes, check_second_pass
from tests.families.flux.files import drawn
from tests.families.listings import prefixed
from tests.thinned import thinned

_LONG = "a house by the sea, " * 20
picture = partial(flow_pictures.picture, guidance=3.0, negative_prompt="a blur")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    whole = {
        **prefixed("model.diffusion_model.", files.original(files.SMALL)),
        **prefixed("text_encoders.t5xxl.transformer.", listings.t5_encoder(40)),
        **prefixed("vae.", listings.flow_vae()),
    }
    path = tmp_path_factory.mktemp("chroma") / "tiny_chroma.safetensors"
    write_arrays(path, drawn(whole))
    return path


def test_one_file_holds_all_parts(checkpoint: Path) -> None:
    found = identify(checkpoint)
    assert (found.family, found.missing) == ("chroma", ())
    assert found.latent.shift == pytest.approx(0.1159)
    assert found.architecture.features.negative_prompt


@pytest.mark.parametrize("convention", thinned(["a1111", "comfy", "diffusers"], ["diffusers"]))
def test_prompts_guidance_and_seed_change_a_picture(checkpoint: Path, convention: str) -> None:
    changes = {"prompt": "a horse"}, {"negative_prompt": _LONG}, {"guidance": 1.0}, {"seed": 8}
    check_changes(picture, checkpoint, convention, *changes)


def test_padding_beside_a_longer_negative_prompt_changes_nothing(checkpoint: Path) -> None:
    """With a guidance near 1 the negative prompt hardly acts, but its length pads the prompt."""
    alone = picture(checkpoint, convention="comfy", guidance=1.0)
    padded = picture(checkpoint, convention="comfy", guidance=1.0001, negative_prompt=_LONG)
    assert np.abs(padded.astype(int) - alone).max() <= 1


def test_a_second_pass_enlarges_and_redraws(checkpoint: Path) -> None:
    check_second_pass(picture, checkpoint)
