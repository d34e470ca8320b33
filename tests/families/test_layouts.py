"""Each family in each layout: the same parts with the same weights, whatever the names."""

from dataclasses import dataclass, replace
from itertools import cycle, product
from pathlib import Path

import pytest

from engine.api.remedies import UseAsPart
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import Component, IdentifiedCheckpoint, identify, require_complete, supply
from engine.weights.sources import as_source
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.flux import files as flux
from tests.families.listings import (
    SD1,
    SD2,
    SDXL,
    UNET,
    VAE,
    XL_CLIP,
    XL_OPEN_CLIP,
    Listing,
    prefixed,
)
from tests.thinned import thinned

OPEN_CLIP = "cond_stage_model.model."
REFINER_TEXT = "conditioner.embedders.0.model."
TEXT, TEXT_2 = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2
DENOISER = Component.DENOISER


@dataclass(frozen=True)
class Whole:
    """A checkpoint in the original layout, and what its parts' names begin with there."""

    family: str
    variant: str
    listing: Listing
    prefixes: dict[Component, str]

    def part(self, component: Component) -> Listing:
        """A component by itself, under its original names."""
        prefix = self.prefixes[component]
        names = self.listing.items()
        return {n.removeprefix(prefix): s for n, s in names if n.startswith(prefix)}


_PARTS = {DENOISER: UNET, Component.VAE: VAE}


def wholes() -> dict[str, Whole]:
    found: dict[str, Whole] = {}
    for channels, variant in ((4, "base"), (9, "inpainting"), (8, "instruct-pix2pix")):
        for family, listing, texts in (
            (
                "sd1",
                listings.original(replace(SD1, in_channels=channels)),
                {TEXT: listings.CLIP},
            ),
            (
                "sd2",
                listings.sd2(replace(SD2, in_channels=channels)),
                {TEXT: OPEN_CLIP},
            ),
            (
                "sdxl",
                listings.sdxl(replace(SDXL, in_channels=channels)),
                {TEXT: XL_CLIP, TEXT_2: XL_OPEN_CLIP},
            ),
        ):
            if (family, channels) == ("sd2", 8):
                continue  # none was published; those with 8 channels estimate depth
            found[f"{family} {variant}"] = Whole(family, variant, listing, _PARTS | texts)
    refiner = listings.sdxl_refiner()
    found["refiner"] = Whole("sdxl_refiner", "base", refiner, _PARTS | {TEXT_2: REFINER_TEXT})
    return found


WHOLES = wholes()
every_whole = pytest.mark.parametrize("name", WHOLES)


def in_diffusers_names(checkpoint: IdentifiedCheckpoint) -> dict[Component, Listing]:
    """The parts as diffusers and transformers save them, the projection as a linear layer's."""
    found: dict[Component, Listing] = {}
    for component, source in checkpoint.components.items():
        names = {name: weight.shape for name, weight in source.weights.items()}
        if "text_projection" in names:
            names["text_projection.weight"] = names.pop("text_projection")[::-1]
        found[component] = names
    return found


def read(folder: Path, name: str) -> IdentifiedCheckpoint:
    return identify(write_sparse(folder / "whole.safetensors", WHOLES[name].listing))


def assert_same(
    checkpoint: IdentifiedCheckpoint, name: str, parts: dict[Component, Listing]
) -> None:
    whole = WHOLES[name]
    assert (checkpoint.family, checkpoint.variant) == (whole.family, whole.variant)
    require_complete(checkpoint)
    assert in_diffusers_names(checkpoint) == parts
    for source in checkpoint.components.values():
        parts_of = (as_source(weight).parts() for weight in source.weights.values())
        places = {(part.path, part.offset) for found in parts_of for part in found}
        assert len(places) == len(source.weights)


@every_whole
def test_a_whole_pipeline_under_diffusers_names(tmp_path: Path, name: str) -> None:
    parts = in_diffusers_names(read(tmp_path, name))
    named = {
        f"{'unet' if component is DENOISER else component.value}.{key}": shape
        for component, listing in parts.items()
        for key, shape in listing.items()
    }
    checkpoint = identify(write_sparse(tmp_path / "named.safetensors", named))
    assert_same(checkpoint, name, parts)
    assert checkpoint.ignored_keys == 0


LAYOUTS = ("original", "original, prefixed", "diffusers")


@pytest.mark.parametrize(
    ("name", "layout"),
    thinned(list(product(WHOLES, LAYOUTS)), list(zip(WHOLES, cycle(LAYOUTS), strict=False))),
)
def test_a_denoiser_with_every_other_part_from_a_file_of_its_own(
    tmp_path: Path, name: str, layout: str
) -> None:
    """ComfyUI's way: a file in `diffusion_models`, `clip_l` and `clip_g`, and a VAE."""
    whole = WHOLES[name]
    parts = in_diffusers_names(read(tmp_path, name))
    paths: dict[Component, Path] = {}
    for component, listing in parts.items():
        if layout != "diffusers":
            listing = whole.part(component)
        if layout == "original, prefixed":
            listing = prefixed(whole.prefixes[component], listing)
        paths[component] = write_sparse(tmp_path / f"{component.value}.safetensors", listing)
    checkpoint = identify(paths.pop(DENOISER))
    assert set(checkpoint.missing) == set(paths)
    given = {component.value: str(path) for component, path in paths.items()}
    assert_same(supply(checkpoint, ComponentFiles(**given)), name, parts)


def xl_denoiser(folder: Path) -> IdentifiedCheckpoint:
    return identify(write_sparse(folder / "unet.safetensors", listings.ldm_unet(SDXL)))


def misfit(checkpoint: IdentifiedCheckpoint, files: ComponentFiles) -> EngineError:
    with pytest.raises(EngineError) as caught:
        supply(checkpoint, files)
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    return caught.value


def hugging_face_big() -> Listing:
    """bigG's text tower as transformers saves it."""
    return listings.clip_text(listings.BIG_CLIP) | {"text_projection.weight": (1280, 1280)}


def test_two_text_encoders_the_wrong_way_round(tmp_path: Path) -> None:
    """Side by side they are as wide as the right way round."""
    small = listings.clip_text() | {"text_projection.weight": (768, 768)}
    clip_l = write_sparse(tmp_path / "clip_l.safetensors", small)
    clip_g = write_sparse(tmp_path / "clip_g.safetensors", hugging_face_big())
    files = ComponentFiles(text_encoder=str(clip_g), text_encoder_2=str(clip_l))
    error = misfit(xl_denoiser(tmp_path), files)
    assert "projected to 768 numbers, the UNet needs 6 sizes beside it in 2816" in error.message


def test_a_second_text_encoder_without_its_projection(tmp_path: Path) -> None:
    clip_l = write_sparse(tmp_path / "clip_l.safetensors", listings.clip_text())
    clip_g = write_sparse(tmp_path / "clip_g.safetensors", listings.clip_text(listings.BIG_CLIP))
    files = ComponentFiles(text_encoder=str(clip_l), text_encoder_2=str(clip_g))
    assert "without text_projection" in misfit(xl_denoiser(tmp_path), files).message


@pytest.mark.parametrize("layout", ["OpenCLIP", "OpenCLIP whole", "transformers", "CLIPModel"])
def test_a_clip_model_with_its_picture_tower_gives_its_text_tower(
    tmp_path: Path, layout: str
) -> None:
    """Whole CLIP models are shared, such as OpenCLIP's `open_clip_pytorch_model`."""
    if "OpenCLIP" in layout:
        names = listings.open_clip()
        if "whole" in layout:
            names |= {"visual.conv1.weight": (1664, 3, 14, 14), "visual.proj": (1664, 1280)}
    else:
        names = hugging_face_big()
        if layout == "CLIPModel":
            names |= {
                "logit_scale": (),
                "vision_model.post_layernorm.weight": (1664,),
                "visual_projection.weight": (1280, 1664),
            }
    path = write_sparse(tmp_path / "clip_g.safetensors", names)
    clip_l = write_sparse(tmp_path / "clip_l.safetensors", listings.clip_text())
    files = ComponentFiles(text_encoder=str(clip_l), text_encoder_2=str(path))
    weights = supply(xl_denoiser(tmp_path), files).components[TEXT_2].weights
    assert len(weights) == 32 * 16 + 2 + 2 + 1


@pytest.mark.parametrize("names", [listings.open_clip(), hugging_face_big()], ids=["open", "hf"])
def test_a_lone_text_encoder_is_told_how_to_be_used(tmp_path: Path, names: Listing) -> None:
    path = write_sparse(tmp_path / "clip_g.safetensors", names)
    with pytest.raises(EngineError) as caught:
        identify(path)
    assert caught.value.message == "clip_g.safetensors is a CLIP text encoder, not a model."
    assert caught.value.remedies == (UseAsPart(components=("text_encoder", "text_encoder_2")),)


def test_a_text_encoder_of_another_family_beside_an_sd1_unet(tmp_path: Path) -> None:
    """Mixed up: SDXL's second text encoder alone in an SD 1 file is none that the UNet reads."""
    sd1 = {n: s for n, s in listings.original().items() if not n.startswith(listings.CLIP)}
    names = sd1 | prefixed(XL_OPEN_CLIP, listings.open_clip())
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    assert (checkpoint.family, checkpoint.missing) == ("sd1", (TEXT,))
    assert checkpoint.ignored_keys == len(listings.open_clip())
    left_out = "second text encoder (OpenCLIP bigG) left out: not of SD 1.x"
    assert left_out in map(str, checkpoint.evidence)
    with pytest.raises(EngineError, match="has no text encoder"):
        require_complete(checkpoint)


@pytest.mark.parametrize("wrapper", ["model.", "module.", "net.module."])
@pytest.mark.parametrize(
    "names",
    [listings.original(), listings.ldm_unet(SDXL), flux.original(flux.SMALL)],
    ids=["whole", "unet", "flux"],
)
def test_words_around_all_keys_are_left_out(tmp_path: Path, names: Listing, wrapper: str) -> None:
    """Names of a module that a trainer wrapped; ComfyUI takes `model.` and `net.`, too."""
    plain = identify(write_sparse(tmp_path / "plain.safetensors", names))
    wrapped = identify(write_sparse(tmp_path / "wrapped.safetensors", prefixed(wrapper, names)))
    assert DENOISER in wrapped.components
    assert wrapped.missing == plain.missing
    assert in_diffusers_names(wrapped) == in_diffusers_names(plain)
