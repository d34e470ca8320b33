"""Every request that is accepted makes a record that reads back equal, at every bound of a field.

The fields are those of the types, so that a new number cannot be forgotten.
"""

import math
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from app.cli.settings import parse_setting, with_settings
from backends.base import Device, Precision
from engine.api.bounds import bounded
from engine.api.control import ControlLayer
from engine.api.conventions import CONVENTIONS
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.embeddings import EmbeddingHash
from engine.api.fields import fields_of
from engine.api.image_prompts import ImagePrompt
from engine.api.limits import MAX_BATCH_INDEX, MAX_COUNT
from engine.api.lora import LoraChoice, LoraHash, LoraMode
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.messages import ImageSaved
from engine.api.preprocessors import MapOptions
from engine.api.record import ResolvedRequest
from engine.api.request import (
    CheckpointOverride,
    ComponentFiles,
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    RefinerChoice,
)
from engine.api.second_passes import SecondPass
from engine.api.values import (
    ConventionName,
    ErrorCode,
    InputRole,
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.families.architecture import texts_of
from engine.metadata.record import decode_record, encode_record
from engine.pipeline.batch import BatchPicture, request_of_picture
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.place import place
from engine.pipeline.resolve import resolve
from tests.api.strategies import values
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.metadata.records import PLAIN, PLAIN_REQUEST
from tests.thinned import thinned

# Where a number is in a structure, and its type.
Place = tuple[str | int, ...]
Number = tuple[Place, type]

_DEVICE = Device("intel_openvino", "cpu", "a processor", (Precision.BF16, Precision.F32))
_ODD = (-math.inf, math.inf, math.nan, -(2**63) - 1, -(2**63), -1, -1e-9, 0.5, 2**63, 2**64, 1e300)
# Not of the picture, and so of no record.
_UNRECORDED = {("count",), ("memory_limit_bytes",), ("device_memory_limit_bytes",)}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    folder = tmp_path_factory.mktemp("accepted")
    return identify(write_sparse(folder / "sd15.safetensors", listings.original()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> GenerateRequest:
    """A request without gaps in which every option counts, as it does where a mask is painted."""
    folder = tmp_path_factory.mktemp("pictures")
    inputs: list[InputImage] = []
    for role in (InputRole.INIT, InputRole.MASK):
        path = folder / f"{role.value}.png"
        Image.new("RGB", (64, 64)).save(path)
        inputs.append(InputImage(role=role, path=str(path)))
    request = GenerateRequest(
        prompt="a house",
        inputs=tuple(inputs),
        refiner=RefinerChoice(checkpoint="/refiner"),
        loras=(LoraChoice(file="/loras/style.safetensors", text_strength=0.5),),
        controls=(ControlLayer(image="/map.png", network="/control.safetensors"),),
        image_prompts=(ImagePrompt(image="/cat.png", adapter="/adapter.safetensors"),),
        second_passes=(SecondPass(width=64, height=64, steps=2, guidance=1.0, tile=256),),
        denoiser_options=DenoiserOptions(tiling=Tiling.BOTH, freeu=FreeUVersion.V2),
    )
    for path, kind in _numbers(GenerateRequest):
        if path[0] in ("sampler_options", "schedule_options", "size_options"):
            request = _with(request, path, kind(1))
    for path, number in _CHOSEN.items():
        request = _with(request, path, number)
    return request


_CHOSEN: dict[Place, object] = {
    ("width",): 64,
    ("height",): 64,
    ("steps",): 2,
    ("guidance",): 1.0,
    ("seed",): 0,
    ("clip_skip",): 1,
    ("strength",): 0.5,
    ("vae_tile",): 512,
    ("seed_options", "variation_seed"): 1,
    ("seed_options", "variation_strength"): 0.5,
    ("seed_options", "resize_from"): (64, 64),
    ("guidance_options", "image_guidance"): 1.0,
    ("mask_options", "blur"): 1,
}


def _numbers(kind: Any, at: Place = ()) -> Iterator[Number]:
    """The numbers in values of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in (int, float):
        yield at, kind
    elif origin in (types.UnionType, typing.Union):
        yield from dict.fromkeys(
            number for argument in arguments for number in _numbers(argument, at)
        )
    elif origin is tuple and arguments[-1] is ...:
        yield from _numbers(arguments[0], (*at, 0))
    elif origin is tuple:
        for path, argument in enumerate(arguments):
            yield from _numbers(argument, (*at, path))
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        for name in kind.__struct_fields__:
            yield from _numbers(hints[name], (*at, name))


def _with(value: Any, at: Place, number: object) -> Any:
    """The same with this number at a path; a pair that is missing is made."""
    if not at:
        return number
    first, rest = at[0], at[1:]
    if first == "preprocessor":
        options = next(kind for kind in typing.get_args(MapOptions) if rest[0] in fields_of(kind))
        value = msgspec.structs.replace(value, preprocessor=options())
    if isinstance(first, str):
        return msgspec.structs.replace(value, **{first: _with(getattr(value, first), rest, number)})
    parts = [1, 1] if value is None else list(value)
    parts[first] = _with(parts[first], rest, number)
    return tuple(parts)


def _resolved(request: GenerateRequest) -> ResolvedRequest:
    """The request as it would be recorded if every number of it was accepted."""
    names = set(ResolvedRequest.__struct_fields__) & set(GenerateRequest.__struct_fields__)
    kept = names - {"checkpoint", "sampler", "schedule", "convention", "backend", "precision"}
    fields = {name: getattr(request, name) for name in kept} | {"zero_terminal_snr": False}
    return msgspec.structs.replace(PLAIN_REQUEST, **fields)


def _ends(request: GenerateRequest) -> tuple[float, ...]:
    """Every bound of every field, one past it, and what no field holds."""
    numbers = bounded(_resolved(request))
    ends = {end for number in numbers for end in (number.low, number.high) if abs(end) < 1e30}
    near = {round(end) + step for end in ends for step in (-1, 0, 1)}
    floats = {math.nextafter(end, way) for end in ends for way in (-math.inf, math.inf)}
    return (*sorted(near | ends | floats), *_ODD)


def _checkpoints(request: GenerateRequest, first: IdentifiedCheckpoint) -> JobCheckpoints:
    """The checkpoints of a request all of whose passes the first one draws."""
    return JobCheckpoints(first, (None,) * len(request.second_passes))


def _comes_back(request: GenerateRequest, checkpoint: IdentifiedCheckpoint) -> bool:
    """Return True if the request is accepted; checks its record in text and on the wire."""
    try:
        resolved = resolve(request, _checkpoints(request, checkpoint))
        placement = place(resolved.precision, resolved.vae_tile, _DEVICE)
        resolved = BatchPicture(0, resolved, texts_of(resolved)).request_on(placement)
    except EngineError as error:
        if error.code not in (ErrorCode.REQUEST_INVALID, ErrorCode.INPUT_IMAGE_UNREADABLE):
            raise
        return False
    for index in {0, request.count - 1}:
        picture = request_of_picture(resolved, index, request.count, None)
        record = msgspec.structs.replace(PLAIN, request=picture)
        assert decode_record(encode_record(record)) == record
        saved = ImageSaved(job="j", path="p", seed=0, width=1, height=1, record=record)
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(saved), type=ImageSaved) == saved
    return True


_ASKED = [number for number in _numbers(GenerateRequest) if number[0] not in _UNRECORDED]


@pytest.mark.parametrize("one_in", thinned([3, 1], [3]))
@pytest.mark.parametrize(("path", "kind"), _ASKED, ids=lambda value: str(value))
def test_a_number_that_is_accepted_is_read_back_and_any_other_is_refused(
    whole: GenerateRequest, checkpoint: IdentifiedCheckpoint, path: Place, kind: type, one_in: int
) -> None:
    """Each end of any field's bounds, or of these one in so many, others for each field."""
    taken = 0
    ends = _ends(whole)[_ASKED.index((path, kind)) % one_in :: one_in]
    for number in (0, 1, *ends):
        if kind is float or isinstance(number, int):
            taken += _comes_back(_with(whole, path, number), checkpoint)
    assert taken > 0
    for number in (-(2**70), 2**70):
        changed = _with(whole, path, number)
        refused = not _comes_back(changed, checkpoint)
        record = msgspec.structs.replace(PLAIN, request=_resolved(changed))
        # What a person cannot ask for is no record either.
        assert decode_record(encode_record(record)) is None
        assert refused or path == ("guidance_options", "image_guidance")  # none is edited here


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_request_that_is_accepted_is_read_back(
    whole: GenerateRequest, checkpoint: IdentifiedCheckpoint, data: st.DataObject
) -> None:
    """Any values in a few of the fields: of all of them one would be refused."""
    hints = typing.get_type_hints(GenerateRequest)
    for name in data.draw(st.sets(st.sampled_from(sorted(hints)), min_size=1, max_size=3)):
        if name not in ("inputs", "refiner"):
            value = data.draw(values(hints[name]))
            whole = msgspec.structs.replace(whole, **{name: value})
    _comes_back(whole, checkpoint)


def test_values_of_the_command_line_are_refused_or_read_back(
    whole: GenerateRequest, checkpoint: IdentifiedCheckpoint
) -> None:
    for text in ("aesthetic_score=101", "original=70000,70000", "crop=0,-1", "eta=10001"):
        assert not _comes_back(with_settings(whole, [parse_setting(text)]), checkpoint), text
    for text in ("aesthetic_score=100", "original=65536,65536", "crop=0,0", "eta=10000"):
        assert _comes_back(with_settings(whole, [parse_setting(text)]), checkpoint), text
    many = ",".join([SamplerName.EULER.value] * 65)
    setting = parse_setting(f"discards_next_to_last={many}")
    assert not _comes_back(with_settings(whole, [setting]), checkpoint)


@pytest.mark.parametrize("tile", [-5, 0, 255, 8193, 2**64])
def test_a_record_with_a_tile_that_nobody_can_ask_for_is_none(tile: int) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, vae_tile=tile)
    assert decode_record(encode_record(msgspec.structs.replace(PLAIN, request=request))) is None


@pytest.mark.parametrize("convention", ConventionName)
def test_every_picture_of_the_largest_batch_has_a_record(
    whole: GenerateRequest, checkpoint: IdentifiedCheckpoint, convention: ConventionName
) -> None:
    """A batch may be drawn from one seed: the record has a picture's place in the batch."""
    taken = [
        count
        for count in (1, MAX_BATCH_INDEX + 1, MAX_BATCH_INDEX + 2, MAX_COUNT, MAX_COUNT + 1)
        if _comes_back(
            msgspec.structs.replace(whole, count=count, convention=convention), checkpoint
        )
    ]
    assert MAX_BATCH_INDEX + 1 in taken
    assert MAX_COUNT + 1 not in taken


def test_resolving_keeps_every_field_that_is_chosen(
    whole: GenerateRequest, checkpoint: IdentifiedCheckpoint
) -> None:
    """A field that `resolve` forgets to pass on would be recorded as its default."""
    chosen = msgspec.structs.replace(
        whole,
        negative_prompt="blurry",
        checkpoint=str(checkpoint.path),
        components=ComponentFiles(vae="/vaes/soft.safetensors"),
        sampler=SamplerName.HEUN,
        schedule=ScheduleName.BETA,
        seed=7,
        convention=CONVENTIONS[ConventionName.COMFY],
        backend="intel_openvino",
        precision=PrecisionName.F32,
        weight_bits=WeightBits.FOUR,
        text_weight_bits=TextWeightBits.EIGHT,
        guidance_options=GuidanceOptions(rescale=0.5),
        zero_terminal_snr=True,
        override=CheckpointOverride(family="sd1"),
        lora_hashes=(LoraHash(name="ink", hash="0123456789"),),
        lora_mode=LoraMode.SIDE,
        embedding_hashes=(EmbeddingHash(name="blur", hash="0123456789"),),
        mask_options=MaskOptions(blur=1, inverted=True, content=MaskedContent.FILL, padding=8),
    )
    resolved = resolve(chosen, _checkpoints(chosen, checkpoint))
    for name, field in fields_of(GenerateRequest).items():
        if name in fields_of(ResolvedRequest):
            assert getattr(chosen, name) != field.default, f"choose another {name}"
            assert getattr(resolved, name) == getattr(chosen, name), name
