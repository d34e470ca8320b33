"""Whatever setting two pictures differ in, the comparison names it."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
import pytest

from engine.api.control import ControlLayer
from engine.api.fields import fields_of
from engine.api.image_prompts import ImagePrompt
from engine.api.lora import LoraReport
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.preprocessors import CannyOptions
from engine.api.record import GenerationRecord
from engine.api.request import InputImage, RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.metadata.records import PLAIN, PNG
from ui.gallery.differences import differing
from ui.picture_facts import read_facts

# With something in every list of it.
FULL = msgspec.structs.replace(
    PLAIN.request,
    inputs=(
        InputImage(role=InputRole.INIT, path="/a/photo.png"),
        InputImage(role=InputRole.MASK, path="/a/mask.png"),
    ),
    mask_options=MaskOptions(
        blur=4, content=MaskedContent.FILL, only_masked=True, expand=(8, 0, 0, 0)
    ),
    refiner=RefinerChoice(checkpoint="/m/refiner.safetensors"),
    controls=(
        ControlLayer(image="/a/street.png", network="/m/canny.pth", preprocessor=CannyOptions()),
    ),
    image_prompts=(ImagePrompt(image="/a/face.png", adapter="/m/ip.bin", further=("/a/sky.png",)),),
    second_passes=(SecondPass(),),
)
# These make no other picture: digests by which files are found, words before they were drawn, the
# way in which LoRAs are applied.
HASHES = {"hash", "digest", "preprocessor_digest", "encoder_digest", "upscaler_digest"}
SAME = {
    *(*HASHES, "checkpoint_digest", "lora_hashes", "embedding_hashes", "lora_mode"),
    *("prompt_template", "negative_template"),
}
# Told by the record's own reports; in use by nobody; told together with the other side.
ELSEWHERE = {
    *("loras", "second_passes.0.width", "second_passes.0.height"),
    *(f"inputs.{at}.{name}" for at in (0, 1) for name in ("weight", "range", "role")),
}


def leaves(value: object, place: str = "") -> Iterator[str]:
    """The places of all values within a struct, as in "controls.0.weight"."""
    parts: Any = ()
    if isinstance(value, msgspec.Struct):
        parts = [(name, getattr(value, name)) for name in value.__struct_fields__]
    elif isinstance(value, tuple):
        members = cast("tuple[object, ...]", value)
        if any(isinstance(member, msgspec.Struct) for member in members):
            parts = enumerate(members)
    for name, part in parts:
        yield from leaves(part, f"{place}.{name}" if place else str(name))
    if not parts:
        yield place


def changed(value: Any, place: str, kind: Any = None) -> Any:
    """A struct or tuple with another value at a place."""
    name, _, rest = place.partition(".")
    if not name:
        return another(value, kind)
    if isinstance(value, tuple):
        members = list(cast("tuple[object, ...]", value))
        members[int(name)] = changed(members[int(name)], rest)
        return tuple(members)
    inner = changed(getattr(value, name), rest, fields_of(value.__class__)[name].kind)
    return msgspec.structs.replace(value, **{name: inner})


def another(value: Any, kind: Any) -> Any:
    match value:
        case None:
            return BY_KIND[next(given for given in (*get_args(kind), kind) if given in BY_KIND)]
        case bool():
            return not value
        case Enum():
            # The last one: of bits of weights the first leaves the choice open.
            return next(
                other for other in reversed(members_of(value.__class__)) if other is not value
            )
        case int():
            return value + 1
        case float():
            return 0.25 if value != 0.25 else 0.5
        case str():
            return "/other/b.png"
        case _:
            members = cast("tuple[Any, ...]", value)
            return (another(members[0], None), *members[1:]) if members else ("/a/other.png",)


def members_of(kind: type[Enum]) -> list[Enum]:
    return list(kind)


def enums_of(*owners: type[msgspec.Struct]) -> Iterator[tuple[Any, Any]]:
    """The enumerations among the fields of structs, each with a value."""
    for owner in owners:
        for field in fields_of(owner).values():
            for given in get_args(field.kind):
                if isinstance(given, type) and issubclass(given, Enum):
                    yield given, members_of(given)[0]


BY_KIND: dict[Any, Any] = {
    int: 512,
    float: 0.5,
    str: "other",
    bool: True,
    tuple[int, int]: (512, 512),
    **dict(enums_of(type(FULL), type(FULL.override), ControlLayer, SecondPass, MaskOptions)),
}


def place_counts(place: str) -> bool:
    own = place.rpartition(".")[2]
    return own not in SAME and place not in ELSEWHERE


PLACES = [place for place in leaves(FULL) if place_counts(place)]


def facts_of(folder: Path, record: GenerationRecord) -> Any:
    path = folder / "a.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    return read_facts(str(path))


def differences(folder: Path, first: GenerationRecord, second: GenerationRecord) -> list[str]:
    facts = facts_of(folder, first), facts_of(folder, second)
    assert all(any(fact.label == "Seed" for fact in each) for each in facts)
    return [found.label for found in differing(facts)]


def test_each_setting_in_which_pictures_differ_is_named(tmp_path: Path) -> None:
    full = msgspec.structs.replace(PLAIN, request=FULL)
    assert differences(tmp_path, full, full) == []
    untold: list[str] = []
    for place in PLACES:
        other = msgspec.structs.replace(full, request=changed(FULL, place))
        assert other != full, place
        if not differences(tmp_path, full, other):
            untold.append(place)
    assert untold == []


@pytest.mark.parametrize(
    "other",
    [
        LoraReport(name="ink", path="/m/ink", strength=0.5),
        LoraReport(name="ink", path="/m/ink", text_strength=0.5),
        LoraReport(name="ink", path="/m/ink", points=((1.0, 0.0), (0.5, 0.5))),
        LoraReport(name="ink", path="/m/ink", blocks="1,0,1"),
        LoraReport(name="ink"),
    ],
)
def test_each_use_of_a_lora_in_which_pictures_differ_is_named(
    tmp_path: Path, other: LoraReport
) -> None:
    first, second = (
        msgspec.structs.replace(PLAIN, loras=(report,))
        for report in (LoraReport(name="ink", path="/m/ink"), other)
    )
    assert differences(tmp_path, first, second) == ["LoRAs"]
