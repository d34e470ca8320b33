"""Our generated files with every key, read by diffusers' `from_single_file`: none missing or left.

The files are holes of the right length, so full size is cheap.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders import single_file_model, single_file_utils  # noqa: E402

from engine.api.request import ComponentFiles  # noqa: E402
from engine.families import Component, ComponentSource, identify, supply  # noqa: E402
from tests.checkpoints.files import write_sparse  # noqa: E402
from tests.families import listings  # noqa: E402
from tests.families.listings import SD1, SD2, SDXL, Listing  # noqa: E402
from tests.oracle import published  # noqa: E402
from tests.oracle.published import Published, write_configs  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402

Shapes = dict[str, tuple[int, ...]]
# In the file's own type, which leaves the weights in it.
WHERE_THEY_ARE = {"torch_dtype": torch.float16, "local_files_only": True}
# What diffusers has no place for: OpenCLIP's temperature; and of SD 2's, which is read before its
# last layer, that one and the projection.
_LEFT_OUT = re.compile(
    r".*\.logit_scale|cond_stage_model\.model\.(.*resblocks\.23\..*|text_projection)"
)


@dataclass
class Loaded:
    """A network as diffusers built it, and what it found for it in the file."""

    kind: str
    wanted: Shapes
    given: Shapes


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Loaded]:
    """Every network that is loaded, as it is loaded."""
    seen: list[Loaded] = []
    really = single_file_model.load_model_dict_into_meta

    def spy(model, state, *args, **kwargs):
        seen.append(Loaded(type(model).__name__, shapes(model.state_dict()), shapes(state)))
        return really(model, state, *args, **kwargs)

    for module in (single_file_model, single_file_utils):
        monkeypatch.setattr(module, "load_model_dict_into_meta", spy)
    return seen


def shapes(state: dict) -> Shapes:
    return {n: tuple(t.shape) for n, t in state.items() if "position_ids" not in n}


def assert_all_is_read(loaded: list[Loaded], listing: Listing) -> None:
    """Each network got all it has, nothing else, and together they are the whole file."""
    for network in loaded:
        assert network.given == network.wanted, network.kind
    kept = (shape for name, shape in listing.items() if not _LEFT_OUT.fullmatch(name))
    taken = (shape for network in loaded for shape in network.wanted.values())
    assert sum(map(prod, taken)) == sum(map(prod, kept))


def assert_ours_has_the_same(loaded: list[Loaded], sources: Sequence[ComponentSource]) -> None:
    """Our names are theirs, but for where transformers' begin and for the layer SD 2 leaves out."""
    theirs = {_comparable(network.wanted) for network in loaded}
    ours = {_comparable({n: w.shape for n, w in source.weights.items()}) for source in sources}
    assert ours == theirs


def _comparable(found: Shapes) -> frozenset[tuple[str, tuple[int, ...]]]:
    names = {name.removeprefix("text_model."): shape for name, shape in found.items()}
    if "text_projection" in names:  # OpenCLIP's, as it is stored
        names["text_projection.weight"] = names.pop("text_projection")[::-1]
    is_clip_h = names.get("embeddings.position_embedding.weight") == (77, 1024)
    return frozenset(
        (name, shape)
        for name, shape in names.items()
        if not (is_clip_h and name.startswith("encoder.layers.23."))
    )


@dataclass(frozen=True)
class Case:
    """A whole checkpoint of ours, and how diffusers calls it."""

    listing: Listing
    published: Published
    family: str
    variant: str = "base"


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name, write, sizes, model, pipeline in (
        ("SD 1", listings.original, SD1, published.SD1, "StableDiffusion"),
        ("SD 2", listings.sd2, SD2, published.SD2, "StableDiffusion"),
        ("SDXL", listings.sdxl, SDXL, published.SDXL, "StableDiffusionXL"),
    ):
        family = name.lower().replace(" ", "")
        found[name] = Case(write(sizes), model, family)
        for channels, kind, variant in (
            (9, "Inpaint", "inpainting"),
            (8, "InstructPix2Pix", "instruct-pix2pix"),
        ):
            if (family, channels) == ("sd2", 8):
                continue  # none was published; those with 8 channels estimate depth
            changed = model.with_channels(channels, f"{pipeline}{kind}Pipeline")
            listing = write(replace(sizes, in_channels=channels))
            found[f"{name} {variant}"] = Case(listing, changed, family, variant)
    found["SDXL refiner"] = Case(listings.sdxl_refiner(), published.REFINER, "sdxl_refiner")
    return found


CASES = cases()
# Their networks are those of the others but for one shape.
_RARE = {"SD 1 instruct-pix2pix", "SD 2 inpainting", "SDXL inpainting", "SDXL instruct-pix2pix"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in _RARE else n for n in CASES]
)
def test_a_whole_checkpoint_is_read_as_in_diffusers(
    tmp_path: Path, name: str, loaded: list[Loaded]
) -> None:
    case = CASES[name]
    path = write_sparse(tmp_path / "whole.safetensors", case.listing)
    config = write_configs(tmp_path / "config", case.published)
    getattr(diffusers, case.published.pipeline).from_single_file(
        str(path), config=str(config), **WHERE_THEY_ARE
    )
    assert_all_is_read(loaded, case.listing)
    checkpoint = identify(path)
    assert (checkpoint.family, checkpoint.variant) == (case.family, case.variant)
    assert_ours_has_the_same(loaded, list(checkpoint.components.values()))


@pytest.mark.parametrize(
    ("name", "layout"),
    each_with_one_in_turn(["SD 1", "SDXL"], ["original", "diffusers"], pytest.mark.slow),
)
def test_a_denoiser_alone_is_read_as_in_diffusers(
    tmp_path: Path, name: str, layout: str, loaded: list[Loaded]
) -> None:
    case = CASES[name]
    listing = {n: s for n, s in case.listing.items() if n.startswith(listings.UNET)}
    path = write_sparse(tmp_path / "unet.safetensors", listing)
    if layout == "diffusers":
        weights = identify(path).components[Component.DENOISER].weights
        listing = {name: weight.shape for name, weight in weights.items()}
        path = write_sparse(tmp_path / "renamed.safetensors", listing)
    config = write_configs(tmp_path / "config", case.published)
    diffusers.UNet2DConditionModel.from_single_file(
        str(path), config=str(config), subfolder="unet", **WHERE_THEY_ARE
    )
    assert_all_is_read(loaded, listing)
    checkpoint = identify(path)
    assert checkpoint.family == case.family
    assert_ours_has_the_same(loaded, list(checkpoint.components.values()))


@pytest.mark.parametrize("prefix", ["", listings.VAE])
def test_a_vae_alone_is_read_as_in_diffusers(
    tmp_path: Path, prefix: str, loaded: list[Loaded]
) -> None:
    listing = listings.prefixed(prefix, listings.ldm_vae())
    path = write_sparse(tmp_path / "vae.safetensors", listing)
    config = write_configs(tmp_path / "config", published.SD1)
    diffusers.AutoencoderKL.from_single_file(
        str(path), config=str(config), subfolder="vae", **WHERE_THEY_ARE
    )
    assert_all_is_read(loaded, listing)
    whole = identify(write_sparse(tmp_path / "sd1.safetensors", CASES["SD 1"].listing))
    supplied = supply(whole, ComponentFiles(vae=str(path)))
    assert_ours_has_the_same(loaded, [supplied.components[Component.VAE]])
