"""A short list of models to begin with, `first_models.toml`; none is fetched unasked."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

import msgspec

from engine.api.model_files import ModelKind

# The weights, with room for the pictures and for the rest of the system.
_MEMORY_PER_BYTE = 1.5
_SYSTEM_BYTES = 3_000_000_000
# Room that a disk keeps for pictures and for other programs.
_DISK_LEFT_BYTES = 2_000_000_000
# The longest wait for a picture that a suggested model asks for.
_PATIENCE_S = 20.0


class FirstModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model to begin with: `about` says what it is good at; `size` is in bytes."""

    title: str
    about: str
    family: str
    kind: ModelKind = ModelKind.CHECKPOINT
    licence: str
    licence_url: str
    size: int
    # The side in pixels and the steps of its usual picture.
    side: int
    steps: int
    # Those of its denoiser, and whether a usual picture is guided: a picture's time follows.
    parameters: int
    guided: bool = True
    url: str

    def fits(self, memory_bytes: int) -> bool:
        """Return True if the model runs well in this much memory; 0 is an unknown amount."""
        return memory_bytes == 0 or self.size * _MEMORY_PER_BYTE + _SYSTEM_BYTES <= memory_bytes

    def fits_on(self, free_bytes: int | None) -> bool:
        """Return True if a disk with so much room can take the file; None is an unknown amount."""
        return free_bytes is None or self.size + _DISK_LEFT_BYTES <= free_bytes


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: tuple[FirstModel, ...]


@cache
def first_models() -> tuple[FirstModel, ...]:
    """Return the models of the list, in its order."""
    # Here, as the window starts sooner without it.
    import tomllib

    text = (resources.files("app.library") / "first_models.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table).model


def ranked(models: Sequence[FirstModel], memory_bytes: int) -> list[FirstModel]:
    """Return the models, those first that fit this machine's memory."""
    return sorted(models, key=lambda model: not model.fits(memory_bytes))


def suggested(
    models: Sequence[FirstModel],
    memory_bytes: int,
    disk_free: int | None,
    seconds: Callable[[FirstModel], float | None],
) -> FirstModel | None:
    """Return a whole model that this machine's memory and disk have room for, if any.

    It is the largest of those that draw a picture soon, by the `seconds` it takes here, since large
    models draw better; where these are unknown or many, the first.
    """
    whole = (model for model in models if model.kind is ModelKind.CHECKPOINT)
    fitting = [model for model in whole if model.fits(memory_bytes) and model.fits_on(disk_free)]
    soon = [model for model in fitting if (seconds(model) or math.inf) <= _PATIENCE_S]
    return max(soon or fitting[:1], key=lambda model: model.parameters, default=None)
