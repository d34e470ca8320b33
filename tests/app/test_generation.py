"""The form without pixels: requests go in and come out whole; choices outlive suggestions."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given

from app.form.fields import NO_EXTRAS, STARTER_PROMPT
from app.form.generation import (
    COMMON_SUGGESTIONS,
    STARTER_SUGGESTIONS,
    GenerationState,
    Suggestions,
)
from app.form.kept_settings import settings_of
from app.form.sizes import fitting_size
from app.paths import starter_checkpoint
from engine.api.checkpoints import CheckpointInfo
from engine.api.features import ConcatChannels, Features
from engine.api.record import GenerationRecord
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import InputRole, PrecisionName, SamplerName, ScheduleName
from engine.families.identify import identify
from engine.metadata.readers import import_record
from engine.pipeline.inspection import inspect
from tests.app.requests import fitting, form_requests, requests
from tests.metadata.records import PLAIN, RECORDS

CHECKPOINT = Path("/models/chosen.safetensors")


def state() -> GenerationState:
    return GenerationState(CHECKPOINT)


def unread_state() -> GenerationState:
    """The state with a checkpoint of which nothing is known, and nothing is left out for it."""
    form = state()
    form.suggestions = COMMON_SUGGESTIONS
    return form


def starter_info() -> CheckpointInfo:
    return inspect(identify(starter_checkpoint()))


@given(form_requests)
def test_a_request_comes_out_as_it_went_in(request: GenerateRequest) -> None:
    form = unread_state()
    form.load_request(request)
    wanted = request.checkpoint or str(CHECKPOINT)
    assert form.build_request() == msgspec.structs.replace(request, checkpoint=wanted)


def test_a_loaded_request_brings_nothing_of_its_machine() -> None:
    form = state()
    form.load_request(
        GenerateRequest(
            prompt="", backend="cpu", precision=PrecisionName.F32, memory_limit_bytes=1 << 30
        )
    )
    request = form.build_request()
    assert (request.backend, request.precision) == ("auto", PrecisionName.AUTO)
    assert request.memory_limit_bytes is None
    assert form.extras == NO_EXTRAS


@given(requests, form_requests)
def test_a_loaded_request_leaves_nothing_of_an_earlier_one(
    earlier: GenerateRequest, later: GenerateRequest
) -> None:
    later = msgspec.structs.replace(later, checkpoint="/models/later.safetensors")
    form = unread_state()
    form.load_request(earlier)
    form.load_request(later)
    assert form.build_request() == later


def test_the_first_request_leaves_every_choice_to_the_engine() -> None:
    request = state().build_request()
    assert request == GenerateRequest(prompt=STARTER_PROMPT, checkpoint=str(CHECKPOINT))


def test_the_settings_shown_for_the_starter_are_those_the_engine_answers() -> None:
    form = state()
    before = form.effective
    form.suggest(starter_info())
    assert form.effective == before
    assert form.suggestions.side == STARTER_SUGGESTIONS.side


def test_a_checkpoint_changes_what_was_left_open_and_nothing_else() -> None:
    form = state()
    form.steps = 33
    form.height = 320
    form.suggestions = COMMON_SUGGESTIONS
    assert (form.effective.width, form.effective.height) == (512, 320)
    assert (form.effective.steps, form.effective.guidance) == (33, 7.0)
    assert form.effective.schedule is ScheduleName.KARRAS
    form.clear_choices()
    assert not form.has_choices
    assert (form.effective.height, form.effective.steps) == (512, 20)


def test_a_chosen_sampler_brings_its_own_settings() -> None:
    form = state()
    form.suggest(starter_info())
    form.sampler = SamplerName.LCM
    assert form.effective.steps < STARTER_SUGGESTIONS.settings[0].steps
    assert form.build_request().steps is None


def test_a_seed_is_used_again_only_while_it_is_locked() -> None:
    form = state()
    form.seed = 7
    assert form.build_request().seed is None
    form.seed_locked = True
    assert form.build_request().seed == 7


def test_a_record_brings_its_settings_but_not_its_device() -> None:
    form = state()
    form.load_request(settings_of(import_record(PLAIN).request))
    request, resolved = form.build_request(), PLAIN.request
    assert (request.prompt, request.seed) == (resolved.prompt, resolved.seed)
    assert (request.width, request.steps) == (resolved.width, resolved.steps)
    assert (request.backend, request.precision) == ("auto", PrecisionName.AUTO)
    assert form.extras == NO_EXTRAS


@given(RECORDS)
def test_a_record_is_read_from_the_engine_as_it_is_from_a_picture(record: GenerationRecord) -> None:
    form = unread_state()
    chosen = form.checkpoint
    wanted = fitting(settings_of(import_record(record).request))
    form.load_request(wanted)
    # A path on another machine is not taken over.
    path = str(chosen if wanted.checkpoint is None else Path(wanted.checkpoint))
    assert form.build_request() == msgspec.structs.replace(wanted, checkpoint=path)


def test_every_change_of_a_choice_is_told() -> None:
    form, told = state(), list[bool]()
    form.effective_changed.connect(lambda: told.append(True))
    form.width, form.sampler, form.suggestions = 128, SamplerName.EULER, COMMON_SUGGESTIONS
    assert len(told) == 3


@pytest.mark.parametrize(
    ("size", "side", "fitted"),
    [
        ((512, 512), 512, (512, 512)),
        ((768, 512), 512, (768, 512)),
        ((513, 770), 512, (512, 768)),
        # A photograph, and a small drawing: in their shape, as large as the checkpoint draws.
        ((4000, 3000), 512, (592, 440)),
        ((4000, 3000), 1024, (1184, 888)),
        ((64, 128), 512, (360, 728)),
        ((20_000, 10), 512, (8192, 64)),
    ],
)
def test_a_picture_to_start_from_gives_its_shape(
    size: tuple[int, int], side: int, fitted: tuple[int, int]
) -> None:
    assert fitting_size(*size, side) == fitted


def flux() -> Suggestions:
    """Return suggestions of a model whose sides are multiples of 16 pixels."""
    return Suggestions(1024, STARTER_SUGGESTIONS.settings, Features(size_multiple=16))


def test_a_size_is_one_that_the_model_takes() -> None:
    form = state()
    form.suggestions = flux()
    # A photograph's shape in multiples of 8 is refused by Flux.1.
    form.start_from("/pictures/photo.png", 4000, 3000)
    assert (form.width, form.height) == (1184, 880)
    # A size that was chosen before the model, or comes with a picture.
    form.width, form.height = 1000, 1080
    assert (form.effective.width, form.effective.height) == (992, 1088)
    assert form.build_request().width == 992
    assert form.build_request().height == 1088
    form.width = None
    assert form.build_request().width is None
    # Another model takes it as it was.
    form.suggestions = STARTER_SUGGESTIONS
    form.width = 1000
    assert form.build_request().width == 1000


def test_strength_is_as_the_engine_takes_it() -> None:
    form = state()
    form.start_from("/pictures/one.png", 512, 512)
    assert form.effective.strength == 0.75
    form.suggestions = msgspec.structs.replace(
        form.suggestions, features=Features(concat_channels=ConcatChannels.MASK)
    )
    assert form.effective.strength == 0.75
    form.paint_within("/pictures/mask.png")
    assert form.effective.strength == 1
    form.strength = 0.3
    assert form.effective.strength == 0.3
    form.paint_within(None)
    assert form.inputs == (InputImage(role=InputRole.INIT, path="/pictures/one.png"),)
    assert form.build_request().strength is None
