"""The tensors of an upscaler's file, for reading sizes; what does not fit becomes one error."""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from backends.base import FileSlice
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

# Channels of pictures: grey, and colours.
_CHANNELS = (3, 1)
_MOST_SCALE = 16


class Tensors(msgspec.Struct, frozen=True):
    """The tensors of a file under the names of its architecture, without those of wrappers."""

    path: Path
    found: Mapping[str, FileSlice]

    def has(self, *names: str) -> bool:
        """Tell whether all these tensors are there."""
        return all(name in self.found for name in names)

    def shape(self, name: str, rank: int) -> tuple[int, ...]:
        """Return the shape of a tensor of this rank. Raises EngineError(CHECKPOINT_MISMATCH)."""
        tensor = self.found.get(name)
        if tensor is None:
            raise self.misfit(sentence("it has no {name}", name=name))
        if len(tensor.shape) != rank or 0 in tensor.shape:
            shape = list(tensor.shape)
            raise self.misfit(sentence("its {name} has shape {shape}", name=name, shape=shape))
        return tensor.shape

    def count(self, prefix: str) -> int:
        """Return one more than the highest number after a prefix such as "body."; 0 for none."""
        pattern = re.compile(rf"{re.escape(prefix)}(\d{{1,4}})\.")
        matches = (pattern.match(name) for name in self.found)
        return max((int(match[1]) + 1 for match in matches if match), default=0)

    def renamed(self, rename: Callable[[str], str]) -> "Tensors":
        """Return the tensors under other names."""
        return Tensors(self.path, {rename(name): tensor for name, tensor in self.found.items()})

    def picture_channels(self, count: int) -> int:
        """Return a number of channels that pictures have. Raises EngineError."""
        if count not in _CHANNELS:
            raise self.misfit(sentence("it is for pictures of {count} channels", count=count))
        return count

    def shuffled_scale(self, outer: int, channels: int) -> int:
        """Return the scale of a last layer of `outer` = channels scale^2 channels."""
        scale = math.isqrt(outer // channels)
        if scale**2 * channels != outer or not 1 <= scale <= _MOST_SCALE:
            what = sentence("its last layer has {outer} channels", outer=outer)
            raise self.misfit(what)
        return scale

    def misfit(self, what: Sentence) -> EngineError:
        """Return the error for tensors that no network of the architecture has."""
        return EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            sentence(
                "{path} is not the upscaler that it seems to be: {what}.",
                path=self.path.name,
                what=what,
            ),
            sentence("The file is incomplete or of another architecture: download it again."),
        )
