"""The result of readers, and warnings about values they could not take over."""

import re
from collections.abc import Iterable

import msgspec

from engine.api import GenerateRequest, GenerationRecord
from engine.metadata.infotext import Parameter


class ImportedRequest(msgspec.Struct, frozen=True):
    """A request read from a picture; `warnings` are sentences on values it could not take over.

    `record` is our own, if the picture has one: its digest tells whether the checkpoint is still
    the same file. `tool` is the program that wrote the picture; `unmapped` are values under the
    tool's own keys that a request has no field for and that may matter.
    """

    request: GenerateRequest
    warnings: tuple[str, ...] = ()
    record: GenerationRecord | None = None
    tool: str = "Safelight"
    unmapped: tuple[Parameter, ...] = ()

    @property
    def model(self) -> str:
        """The name of the checkpoint, which the user has yet to find; empty if none is told."""
        return self._named(_MADE_WITH)

    @property
    def model_of_pass(self) -> str:
        """The name of the checkpoint of the second pass; empty if none is told."""
        return self._named(_DRAWN_AGAIN_WITH)

    @property
    def vae(self) -> str:
        """The name of the VAE that decoded the picture; empty if none is told."""
        return self._named(_DECODED_WITH)

    def _named(self, warning: re.Pattern[str]) -> str:
        told = map(warning.fullmatch, self.warnings)
        return next((match[1] for match in told if match), "")


_MADE_WITH = re.compile(r'It was made with the model "(.*)"; choose it to match\.')
_DRAWN_AGAIN_WITH = re.compile(
    r'Its second pass was drawn with the model "(.*)"; choose it to match\.'
)
_DECODED_WITH = re.compile(r'It was made with the VAE "(.*)"; choose it to match\.')
_SHOWN, _LOOKED_AT = 80, 500


def plain(text: str, limit: int = _SHOWN) -> str:
    """Return text fit for a message: at most `limit` characters, no control characters."""
    shown = "".join(character for character in text[:_LOOKED_AT] if character.isprintable())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def refused(key: str, value: str) -> str:
    """Return the warning that a value is wrong or unknown."""
    return f'"{plain(key)}: {plain(value)}" was not taken over.'


def made_with_checkpoint(name: str) -> str:
    """Return the warning that names the checkpoint to choose; the name is never used as a path."""
    return f'It was made with the model "{plain(name)}"; choose it to match.'


def made_with_refiner(name: str) -> str:
    """Return the warning that names the refiner's checkpoint to choose."""
    return f'It was refined with the model "{plain(name)}"; choose it to match.'


def drawn_again_with(name: str) -> str:
    """Return the warning that names the checkpoint of a second pass to choose."""
    return f'Its second pass was drawn with the model "{plain(name)}"; choose it to match.'


def enlarged_with(name: str) -> str:
    """Return the remark that names the upscaler of a second pass."""
    return (
        f'It was enlarged with the upscaler "{plain(name)}", which is looked for in your folders.'
    )


def enlarged_by(method: str) -> str:
    """Return the remark that a way to resample pictures is replaced by the one that is here."""
    return f'It was enlarged by "{plain(method)}", taken for Lanczos.'


def enlarged_afterwards(upscaler: str, growth: str = "") -> str:
    """Return the remark that a finished picture was enlarged, which no request does.

    `growth` is a text such as "2 times".
    """
    by = f" {plain(growth)}" if growth else ""
    return (
        f'It was enlarged{by} with "{plain(upscaler)}" after it was made; use Upscale on the '
        "picture for that."
    )


def made_with_vae(name: str) -> str:
    """Return the warning that names the VAE to choose."""
    return f'It was made with the VAE "{plain(name)}"; choose it to match.'


def made_with_parts(names: Iterable[str]) -> str:
    """Return the warning that names the VAE and the text encoders to choose."""
    named = ", ".join(f'"{plain(name)}"' for name in names)
    return f"It was made with the VAE and the text encoders {named}; choose them to match."


def drawn_alike(sampler: str, label: str) -> str:
    """Return the warning that a similar sampler replaces the tool's."""
    return f'Its sampler "{plain(sampler)}" is taken for {label}; the picture will differ.'


MADE_FROM_A_PICTURE = "It was made from another picture, which is not in the file."
MADE_WITH_REFERENCES = "It was made with reference pictures, which are not in the file."


def left_over(pairs: Iterable[Parameter]) -> tuple[str, ...]:
    """Return the warning that lists the tool's other values; none without such values."""
    keys = ", ".join(dict.fromkeys(pair.key for pair in pairs))
    return (f"Not taken over: {plain(keys, 200)}.",) if keys else ()
