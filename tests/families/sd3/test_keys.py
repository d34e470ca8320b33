"""The keys of SD 3's transformers, and their sizes."""

from pathlib import Path

import pytest

from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families import Component, identify, supply
from engine.families.parts_index import PartsIndex
from engine.graphs.sd3 import Sd3Config
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import UNET, Listing, VaeSizes, prefixed
from tests.families.sd3 import files

VARIANTS = {
    "medium": files.Sd3Sizes(),
    "3.5-medium": files.MEDIUM_35,
    "3.5-large": files.LARGE,
}
FOUND = {
    "medium": Sd3Config(
        channels=16,
        width=1536,
        heads=24,
        mlp_width=6144,
        context_width=4096,
        pooled_width=2048,
        blocks=24,
        places=192,
    ),
    "3.5-medium": Sd3Config(
        channels=16,
        width=1536,
        heads=24,
        mlp_width=6144,
        context_width=4096,
        pooled_width=2048,
        blocks=24,
        places=384,
        normalised=True,
        dual_blocks=tuple(range(13)),
    ),
    "3.5-large": Sd3Config(
        channels=16,
        width=2432,
        heads=38,
        mlp_width=9728,
        context_width=4096,
        pooled_width=2048,
        blocks=38,
        places=192,
        normalised=True,
    ),
}


def big_clip() -> Listing:
    return listings.clip_text(listings.BIG_CLIP) | {"text_projection.weight": (1280, 1280)}


@pytest.mark.parametrize("prefix", ["", UNET])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_released_sizes_are_read(tmp_path: Path, variant: str, prefix: str) -> None:
    names = prefixed(prefix, files.original(VARIANTS[variant]))
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    assert (checkpoint.family, checkpoint.variant) == ("sd3", variant)
    assert checkpoint.components[Component.DENOISER].config == FOUND[variant]
    # T5 may be left out.
    gaps = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.VAE)
    assert checkpoint.missing == gaps


def test_turbo_is_told_by_its_name(tmp_path: Path) -> None:
    names = files.original(files.LARGE)
    checkpoint = identify(write_sparse(tmp_path / "sd3.5_large_turbo.safetensors", names))
    assert checkpoint.variant == "3.5-large-turbo"
    assert (checkpoint.hints.steps, checkpoint.hints.guidance) == (4, 1.0)


def test_all_parts_of_a_whole_file_are_found(tmp_path: Path) -> None:
    """`sd3_medium_incl_clips_t5xxlfp8`: latents of SD 3, and T5 as the third encoder."""
    vae = listings.flow_vae(VaeSizes(latent=16))
    whole: Listing = {
        **prefixed(UNET, files.original()),
        **prefixed("first_stage_model.", vae),
        **prefixed("text_encoders.clip_l.transformer.", listings.clip_text()),
        **prefixed("text_encoders.clip_g.transformer.", big_clip()),
        **prefixed("text_encoders.t5xxl.transformer.", listings.t5_encoder(4096)),
    }
    checkpoint = identify(write_sparse(tmp_path / "sd3.safetensors", whole))
    assert set(checkpoint.components) == set(Component)
    assert (checkpoint.missing, checkpoint.ignored_keys) == ((), 0)
    assert (checkpoint.latent.scale, checkpoint.latent.shift) == (1.5305, 0.0609)


def test_an_encoder_of_another_width_is_refused(tmp_path: Path) -> None:
    model = identify(write_sparse(tmp_path / "sd3.safetensors", files.original()))
    small = write_sparse(tmp_path / "t5.safetensors", listings.t5_encoder(512))
    with pytest.raises(EngineError) as caught:
        supply(model, ComponentFiles(text_encoder_3=str(small)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "512" in caught.value.message


@pytest.mark.parametrize("projected", [True, False])
def test_each_clip_encoder_fits_its_own_place_alone(tmp_path: Path, *, projected: bool) -> None:
    path = write_sparse(tmp_path / "sd3.safetensors", files.original())
    more: Listing = {"text_projection.weight": (768, 768)} if projected else {}
    first = write_sparse(tmp_path / "a.safetensors", listings.clip_text() | more)
    second = write_sparse(tmp_path / "b.safetensors", big_clip())
    gaps = PartsIndex(tmp_path, KnownFiles(tmp_path / "known")).gaps(identify(path))
    found = {gap.component: [fit.path for fit in gap.fits] for gap in gaps}
    assert found == {"text_encoder": [str(first)], "text_encoder_2": [str(second)], "vae": []}
    with pytest.raises(EngineError, match="1280 wide"):
        supply(identify(path), ComponentFiles(text_encoder=str(second)))
