"""Pictures by a tiny SD 3.5 in ComfyUI's layout: one file with transformer, encoders and VAE."""

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.request import ComponentFiles
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.families import Component, identify
from tests.checkpoints.arrays import write_arrays
from tests.families import flow_pictures, listings
from tests.families.flow_pictures import check_changes, check_second_pass
from tests.families.flux.files import drawn
from tests.families.listings import ClipSizes, Listing, prefixed
from tests.families.sd3 import files
from tests.metadata.records import PLAIN_REQUEST
from tests.thinned import thinned

# Two CLIP encoders side by side do not fill the width of T5's states.
_CLIP, _CONTEXT = 64, 136
_SIZES = files.Sd3Sizes(64, 32, _CONTEXT, 2 * _CLIP, 3, 16, normalised=True, dual=2)
_T5 = "text_encoders.t5xxl.transformer."
_LONG = "a house by the sea, " * 20
picture = partial(flow_pictures.picture, guidance=3.0, negative_prompt="a blur")


def whole() -> Listing:
    clip = listings.clip_text(ClipSizes(width=_CLIP, layers=2))
    projected = clip | {"text_projection.weight": (_CLIP, _CLIP)}
    return {
        **prefixed("model.diffusion_model.", files.original(_SIZES)),
        **prefixed("text_encoders.clip_l.transformer.", projected),
        **prefixed("text_encoders.clip_g.transformer.", projected),
        **prefixed(_T5, listings.t5_encoder(_CONTEXT)),
        **prefixed("first_stage_model.", listings.flow_vae()),
    }


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sd3") / "tiny_sd3.safetensors"
    write_arrays(path, drawn(whole()))
    return path


@pytest.fixture(scope="module")
def without_t5(checkpoint: Path) -> Path:
    numbers = {name: array for name, array in drawn(whole()).items() if not name.startswith(_T5)}
    write_arrays(checkpoint.with_name("without.safetensors"), numbers)
    return checkpoint.with_name("without.safetensors")


def test_one_file_holds_all_parts(checkpoint: Path) -> None:
    found = identify(checkpoint)
    assert (found.family, found.variant, found.missing) == ("sd3", "3.5-medium", ())
    assert set(found.components) == set(Component)
    features = found.architecture.features
    assert [text.tokens for text in features.texts] == [75, 75, 256]
    assert features.clip_skip == 2


@pytest.mark.parametrize(
    "convention", thinned(["a1111", "comfy", "diffusers", "invoke"], ["diffusers"])
)
def test_prompts_guidance_and_seed_change_a_picture(checkpoint: Path, convention: str) -> None:
    changes = (
        {"prompt": "a horse"},
        {"negative_prompt": _LONG},
        {"negative_prompt": ""},
        {"guidance": 1.0},
        {"seed": 8},
    )
    check_changes(picture, checkpoint, convention, *changes)


def test_an_empty_negative_prompt_is_zeros_with_one_tool_alone(checkpoint: Path) -> None:
    """In Forge, for which the convention A1111 stands: of T5's states, too."""
    made = {
        name: picture(checkpoint, convention=name, negative_prompt="")
        for name in ("a1111", "comfy")
    }
    assert not np.array_equal(made["a1111"], made["comfy"])


def test_t5_may_be_left_out_and_supplied(checkpoint: Path, without_t5: Path) -> None:
    found = identify(without_t5)
    assert found.missing == ()
    assert [text.tokens for text in found.architecture.features.texts] == [75, 75, 0]
    without = picture(without_t5)
    assert not np.array_equal(without, picture(checkpoint))
    supplied = ComponentFiles(text_encoder_3=str(checkpoint))
    np.testing.assert_array_equal(picture(without_t5, components=supplied), picture(checkpoint))


def test_zeros_stand_in_for_t5_in_some_tools_and_nothing_in_comfy(without_t5: Path) -> None:
    text = identify(without_t5).architecture.text
    for convention, positions in (
        (ConventionName.COMFY, 77),
        (ConventionName.A1111, 77 + 256),
        (ConventionName.DIFFUSERS, 77 + 256),
    ):
        asked = msgspec.structs.replace(
            PLAIN_REQUEST, prompt="a", negative_prompt="b", convention=CONVENTIONS[convention]
        )
        plan = text.read([asked])
        assert plan.shape(("a", "b"), guided=True) == (2, positions)


def test_a_longer_negative_prompt_is_read(checkpoint: Path) -> None:
    first = picture(checkpoint, convention="comfy", negative_prompt=_LONG)
    other = picture(checkpoint, convention="comfy", negative_prompt=_LONG + "a horse")
    assert not np.array_equal(first, other)


def test_a_picture_beyond_the_table_of_places_is_refused(checkpoint: Path) -> None:
    with pytest.raises(EngineError, match="at most 256 pixels") as caught:
        picture(checkpoint, width=512, height=512)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


def test_a_second_pass_enlarges_and_redraws(checkpoint: Path) -> None:
    check_second_pass(picture, checkpoint)
