"""A file is what is in it: names, endings and what somebody made of it do not count."""

from pathlib import Path

import pytest

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import identify
from engine.families.recognition import FOREIGN_KINDS
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.listings import CLIP, UNET, VAE, XL_OPEN_CLIP, Listing, affine, prefixed
from tests.families.test_identify import SMALL


def failure(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        identify(path)
    return caught.value


@pytest.mark.parametrize(
    "name",
    ["vae.safetensors", "lora.ckpt", "sdxl turbo v_pred.pt", "model.bin", "no ending", "x.json"],
)
def test_an_sd1_checkpoint_under_any_name(tmp_path: Path, name: str) -> None:
    checkpoint = identify(write_sparse(tmp_path / name, SMALL))
    assert (checkpoint.family, checkpoint.missing) == ("sd1", ())


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (other_listings.kohya_lora(), "a LoRA"),
        (listings.ldm_vae(), "a VAE"),
        (other_listings.controlnet(), "a ControlNet"),
        (other_listings.embedding(), "a textual inversion embedding"),
        (other_listings.aura_flow(), "an AuraFlow model"),
    ],
)
def test_something_else_that_is_called_a_checkpoint(
    tmp_path: Path, names: Listing, title: str
) -> None:
    error = failure(write_sparse(tmp_path / "v1-5-pruned-emaonly.safetensors", names))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert error.message.startswith(f"v1-5-pruned-emaonly.safetensors is {title}")
    assert error.hint


def _cascade() -> Listing:
    return {"clf.1.weight": (64, 320, 1, 1), "clip_txt_mapper.weight": (2048, 1280)}


def _hunyuan() -> Listing:
    text = affine("mlp_t5.0", 8192, 2048) | affine("mlp_t5.2", 1024, 8192)
    return text | affine("x_embedder.proj", 1408, 4, 2, 2)


def _video() -> Listing:
    block = f"{UNET}input_blocks.1.1.time_stack.0"
    return listings.original() | affine(f"{block}.attn1.to_q", 320, 320)


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (_cascade(), "a Stable Cascade model"),
        ({"double_layers.0.attn.w1q.weight": (3072, 3072)}, "an AuraFlow model"),
        (_hunyuan(), "a Hunyuan-DiT model"),
        (_video(), "a Stable Video Diffusion model"),
    ],
)
def test_checkpoints_of_others_are_named(tmp_path: Path, names: Listing, title: str) -> None:
    path = write_sparse(tmp_path / "x.safetensors", names)
    assert failure(path).message == f"x.safetensors is {title}, which is not run yet."
    assert title in {kind.title for kind in FOREIGN_KINDS}


def test_parts_of_two_checkpoints_in_one_file(tmp_path: Path) -> None:
    """A part without a use there is told; a file in the place of a part must fit."""
    big = prefixed(XL_OPEN_CLIP, listings.open_clip(listings.SMALL_OPEN_CLIP))
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", SMALL | big))
    assert checkpoint.family == "sd1"
    assert any("left out: not of SD 1.x" in str(line) for line in checkpoint.evidence)
    whole = listings.original()
    without = {name: shape for name, shape in whole.items() if not name.startswith(CLIP)}
    of_sd2 = prefixed("cond_stage_model.model.", listings.open_clip(listings.ClipSizes(1024, 1)))
    error = failure(write_sparse(tmp_path / "y.safetensors", without | of_sd2))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "it is 1024 wide, the UNet needs one 768 wide" in error.message
    wide = {name: shape for name, shape in SMALL.items() if not name.startswith(VAE)}
    wide |= prefixed(VAE, listings.ldm_vae(listings.VaeSizes(latent=16)))
    error = failure(write_sparse(tmp_path / "z.safetensors", wide))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH


def test_a_file_without_tensors(tmp_path: Path) -> None:
    error = failure(write_sparse(tmp_path / "x.safetensors", {}))
    assert error.message == "x.safetensors is not a model this version knows."
    assert error.detail == "no tensors"


def test_names_from_strangers_are_quoted(tmp_path: Path) -> None:
    """In what a person sees, no name can begin a line, colour it or turn it round."""
    error = failure(
        write_sparse(tmp_path / "x.safetensors", {"нейро \u00e9": (2, 2), "b'\"": (3,)})
    )
    assert error.detail.isascii()
    assert error.detail.isprintable()
