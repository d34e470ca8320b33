"""Pictures by a tiny Z-Image in ComfyUI's layout: one file with transformer, encoder and VAE."""

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.features import GuidanceKind
from engine.api.values import ConventionName, ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.families.zimage.hints import variant_of
from engine.lora.folder import LoraLookup
from engine.pipeline.found_loras import find_loras
from engine.pipeline.loras import JobLoras
from engine.text.lora_strengths import RunLength
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.families import flow_pictures, listings
from tests.families.flow_pictures import check_changes, check_second_pass
from tests.families.flux.files import drawn
from tests.families.listings import prefixed
from tests.families.zimage import files
from tests.metadata.records import PLAIN_REQUEST
from tests.thinned import thinned

picture = partial(flow_pictures.picture, guidance=1.0)


def write_checkpoint(path: Path, context: int = files.SMALL.context) -> Path:
    whole = {
        **prefixed("model.diffusion_model.", files.original(files.SMALL)),
        **prefixed("text_encoders.qwen3_4b.transformer.", files.qwen3(context)),
        **prefixed("vae.", listings.flow_vae()),
    }
    write_arrays(path, drawn(whole))
    return path


@pytest.fixture(scope="module")
def turbo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("zimage") / "z_image_turbo.safetensors")


def test_one_file_holds_all_parts(turbo: Path) -> None:
    checkpoint = identify(turbo)
    assert (checkpoint.family, checkpoint.variant, checkpoint.missing) == ("zimage", "turbo", ())
    assert (checkpoint.hints.steps, checkpoint.hints.guidance) == (8, 1.0)
    features = checkpoint.architecture.features
    assert (features.guidance, features.size_multiple) == ((GuidanceKind.CFG,), 16)


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("z_image_turbo_bf16", "turbo"),
        ("z_image_bf16", "base"),
        ("Z-Image-Base", "base"),
        ("Z-Image", "base"),
        ("some_mix_v2", "turbo"),
    ],
)
def test_base_is_told_by_its_name(name: str, variant: str) -> None:
    assert variant_of(name, ()) == variant


@pytest.mark.parametrize(
    "convention", thinned(["a1111", "comfy", "diffusers", "invoke"], ["invoke"])
)
def test_prompt_and_seed_change_a_picture(turbo: Path, convention: str) -> None:
    changes = {"prompt": "a horse"}, {"guidance": 4.0}, {"seed": 8}
    check_changes(picture, turbo, convention, *changes)


def test_a_prompt_that_compel_would_refuse_is_text_and_names_no_lora(turbo: Path) -> None:
    read_loras = JobLoras(identify(turbo), LoraLookup(), read_index)
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        prompt='("a cat", "a dog").blend(1) withLora(ink) <lora:ink:1>',
        convention=CONVENTIONS[ConventionName.INVOKE],
    )
    with pytest.raises(EngineError, match="has 1 numbers for 2 prompts"):
        find_loras(request, RunLength(4), LoraLookup())
    (warning,) = read_loras(request, RunLength(4)).warnings
    assert "reads its tag as words" in warning.message
    a1111 = msgspec.structs.replace(request, convention=CONVENTIONS[ConventionName.A1111])
    (warning,) = read_loras(a1111, RunLength(4)).warnings
    assert "ink" in warning.message


def test_a_negative_prompt_acts_with_guidance_alone(turbo: Path) -> None:
    first, without = picture(turbo, guidance=4.0), picture(turbo)
    negative = {"negative_prompt": "a blur"}
    assert not np.array_equal(picture(turbo, guidance=4.0, **negative), first)
    np.testing.assert_array_equal(picture(turbo, **negative), without)


def test_an_encoder_of_another_width_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_checkpoint(tmp_path / "z.safetensors", context=24))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "the transformer needs one 40 wide" in caught.value.message


def test_layouts_have_the_same_weights(tmp_path: Path) -> None:
    numbers = drawn(files.original(files.SMALL))
    write_arrays(tmp_path / "original.safetensors", numbers)
    found = identify(tmp_path / "original.safetensors").components[Component.DENOISER].weights
    assert {name: weight.shape for name, weight in found.items()} == files.diffusers(files.SMALL)
    joined = numbers["layers.1.attention.qkv.weight"]
    for part, rows in zip("qkv", np.split(joined, 3), strict=True):
        weight = as_source(found[f"layers.1.attention.to_{part}.weight"]).read()
        np.testing.assert_array_equal(weight, rows)


def test_a_second_pass_enlarges_and_redraws(turbo: Path) -> None:
    check_second_pass(picture, turbo)
