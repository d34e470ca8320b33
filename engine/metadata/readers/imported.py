"""The result of a reader, and its sentences about values that it could not take over."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.api import GenerateRequest, GenerationRecord
from engine.metadata.infotext import Parameter


@dataclass(frozen=True, slots=True)
class ImportedRequest:
    """A request read from a picture; `warnings` are sentences on what it could not take over.

    `record` is ours, where the picture has one: its digest tells whether the checkpoint is still
    the same file. `tool` names who wrote the picture; `unmapped` are the values, under the tool's
    own keys, that a request has no place for and that may matter.
    """

    request: GenerateRequest
    warnings: tuple[str, ...] = ()
    record: GenerationRecord | None = None
    tool: str = "Safelight"
    unmapped: tuple[Parameter, ...] = ()


_SHOWN, _LOOKED_AT = 80, 500


def plain(text: str, limit: int = _SHOWN) -> str:
    """Text fit for a message: at most `limit` characters, no control or direction characters."""
    shown = "".join(character for character in text[:_LOOKED_AT] if character.isprintable())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def refused(key: str, value: str) -> str:
    """A value that is wrong or unknown."""
    return f'"{plain(key)}: {plain(value)}" was not taken over.'


def made_with_checkpoint(name: str) -> str:
    """Which checkpoint it was; a name is never taken for a path."""
    return f'It was made with the model "{plain(name)}"; choose it to match.'


def made_with_refiner(name: str) -> str:
    """Which checkpoint finished it."""
    return f'It was refined with the model "{plain(name)}"; choose it to match.'


def made_with_vae(name: str) -> str:
    """Which VAE replaced the checkpoint's own."""
    return f'It was made with the VAE "{plain(name)}"; choose it to match.'


def made_with_loras(names: Iterable[str]) -> tuple[str, ...]:
    """Which LoRAs it was made with, each with its weight; nothing where there are none."""
    listed = ", ".join(names)
    return (f"It was made with LoRAs: {plain(listed, 200)}.",) if listed else ()


def drawn_alike(sampler: str, label: str) -> str:
    """A sampler that comes next to one there is none of."""
    return f'Its sampler "{plain(sampler)}" is taken for {label}; the picture will differ.'


MADE_FROM_A_PICTURE = "It was made from another picture, which is not in the file."


def left_over(pairs: Iterable[Parameter]) -> tuple[str, ...]:
    """A sentence that names the other keys of the tool, or nothing if there are none."""
    keys = ", ".join(dict.fromkeys(pair.key for pair in pairs))
    return (f"Not taken over: {plain(keys, 200)}.",) if keys else ()


def lora(name: str, weight: object) -> str:
    """A LoRA's name with its weight."""
    return f"{name} ({weight:g})" if isinstance(weight, float | int) else f"{name} ({weight})"
