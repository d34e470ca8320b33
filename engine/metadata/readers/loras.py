"""LoRAs that a tool's metadata name, as choices of a request."""

import math
import re
from collections.abc import Iterable, Mapping
from itertools import islice

from engine.api.fields import bounds_of
from engine.api.lora import MAX_LORAS, LoraChoice, LoraHash
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.named_files import file_name, hash_digits

_BOUNDS = bounds_of(LoraChoice, "strength")
# The most characters of a list of names and hashes.
_MAX_LISTED = 100_000
# The kinds of Civitai's resources that are LoRAs.
_CIVITAI_KINDS = frozenset({"lora", "locon", "lycoris", "dora"})
_HASHES_PREFIX = "lora:"


def lora_choice(
    name: object, strength: object = 1.0, text: object = None, digits: object = None
) -> LoraChoice | None:
    """Return a LoRA of this name, strengths and hash; None without a usable name.

    Strengths are numbers or texts; one that is none, or out of bounds, is 1, and the text
    encoders' is the denoiser's.
    """
    plain = file_name(name)
    if not plain:
        return None
    number = _strength(strength)
    return LoraChoice(
        file=plain,
        strength=1.0 if number is None else number,
        text_strength=_strength(text),
        hash=hash_digits(digits),
    )


def chosen(found: Iterable[LoraChoice | None]) -> tuple[LoraChoice, ...]:
    """Return those that are LoRAs, at most as many as a request takes."""
    return tuple(islice((lora for lora in found if lora is not None), MAX_LORAS))


def lora_hashes(text: str | None, every: str | None = None) -> tuple[LoraHash, ...]:
    """Return the hashes of LoRAs in A1111's `Lora hashes`, and in `Hashes` of Civitai's extension.

    The first is "name: 0123456789ab, other: ...", the second JSON with keys such as "lora:name".
    """
    pairs = (part.split(":", 1) for part in (text or "")[:_MAX_LISTED].split(","))
    named: dict[str, str | None] = {
        pair[0].strip(): hash_digits(pair[1]) for pair in pairs if len(pair) == 2
    }
    for key, digits in parse_object(every).items():
        if key.casefold().startswith(_HASHES_PREFIX):
            named.setdefault(key[len(_HASHES_PREFIX) :], hash_digits(digits))
    found = (LoraHash(name=name, hash=digest) for name, digest in named.items() if name and digest)
    return tuple(islice(found, MAX_LORAS))


def civitai_loras(text: str | None) -> tuple[LoraChoice, ...]:
    """Return the LoRAs of `Civitai resources`, under the names of their pages."""
    entries = parse_object(f'{{"resources": {text}}}' if text else None).get("resources")
    return chosen(
        lora_choice(fields.get("modelName"), fields.get("weight", 1.0))
        for fields in map(as_object, as_list(entries))
        if _civitai_kind(fields) in _CIVITAI_KINDS
    )


def _civitai_kind(fields: Mapping[str, object]) -> str:
    """Return the kind of a resource: its type, or that in `urn:air:sdxl:lora:civitai:1@2`."""
    kind = fields.get("type") or (*str(fields.get("air")).split(":", 4), "", "", "")[3]
    return str(kind).casefold()


def additional_networks(values: Mapping[str, str]) -> tuple[LoraChoice, ...]:
    """Return the LoRAs of sd-webui-additional-networks: `AddNet Model 1: name(0123456789ab)`.

    Weight A is the denoiser's, weight B the text encoder's (`scripts/additional_networks.py`).
    """
    found: list[LoraChoice | None] = []
    for key, kind in values.items():
        number = key.removeprefix("AddNet Module ")
        if number == key or kind != "LoRA":
            continue
        named = re.fullmatch(r"(.*?)\(([0-9a-f]+)\)", values.get(f"AddNet Model {number}", ""))
        denoiser, text = (values.get(f"AddNet Weight {letter} {number}") for letter in "AB")
        name, digits = (named[1], named[2]) if named else (values.get(f"AddNet Model {number}"), "")
        found.append(lora_choice(name, denoiser, text, digits))
    return chosen(found)


def _strength(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and _BOUNDS.low <= number <= _BOUNDS.high else None
