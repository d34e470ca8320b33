"""The tensors of a LoRA's layer as numbers: shapes are checked before, NaN when they are read."""

from collections.abc import Iterator

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import require_rows
from engine.errors import EngineError
from engine.lora.modules import LoraModule
from engine.weights.sources import FileWeight

_HINT = sentence("The file is damaged, or its training failed: download it again, or use another.")


class LoraTensor(FileWeight, frozen=True):
    """A tensor of a LoRA file, as a weight source; reading one that holds NaN or infinity fails.

    `name` has the words for it in the error: its part, its shape in the file, and the layer.
    """

    name: str

    def read(self) -> Array:
        """Return the numbers in float32. Raises EngineError(CHECKPOINT_CORRUPT)."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """Return the numbers in `element` type. Raises EngineError(CHECKPOINT_CORRUPT)."""
        # The short form of super() fails in a dataclass with slots.
        numbers = FileWeight.read_as(self, DType.F32)
        if not np.isfinite(numbers).all():
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                sentence(
                    "The LoRA {path} holds values that are not a number, in {self}.",
                    path=self.slice.path.name,
                    self=self.name,
                ),
                _HINT,
            )
        return numbers.astype(element.numpy, copy=False)


class LayerTensors(msgspec.Struct, frozen=True):
    """The tensors of one layer of a LoRA, by canonical part."""

    module: LoraModule

    def __contains__(self, part: str) -> bool:
        return part in self.module.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.module.tensors)

    def __getitem__(self, part: str) -> LoraTensor:
        """Return a tensor. Raises EngineError(CHECKPOINT_INCOMPLETE) if the layer lacks it."""
        found = self.get(part)
        if found is None:
            raise EngineError(
                ErrorCode.CHECKPOINT_INCOMPLETE,
                sentence(
                    "The LoRA {file} has no {part} of {layer}.",
                    file=self.file,
                    part=part,
                    layer=self.module.layer,
                ),
                _HINT,
                ", ".join(sorted(self.module.tensors)),
            )
        return found

    def get(self, part: str) -> LoraTensor | None:
        """Return a tensor; None if the layer lacks it. Raises EngineError for an odd order."""
        tensor = self.module.tensors.get(part)
        if tensor is None:
            return None
        require_rows(tensor.path, {f"{part} of {self.module.layer}": tensor})
        name = f"{part} {list(tensor.shape)} of {self.module.layer}"
        return LoraTensor(tensor, name)

    @property
    def file(self) -> str:
        """The name of the file."""
        paths = {tensor.path.name for tensor in self.module.tensors.values()}
        return min(paths, default="")

    def number(self, part: str) -> float | None:
        """Return the single number of a part, such as alpha; None if the layer lacks the part."""
        if part not in self:
            return None
        tensor = self[part]
        if tensor.elements != 1:
            raise self.refused(part)
        return float(tensor.read().reshape(()))

    def scale(self, rank: int | None) -> float:
        """Return alpha / rank times the trained scalar; each is 1 where the layer lacks it.

        Without alpha the scale that the adapter's configuration states takes its place. `rank`
        None: nothing of the change has a rank, so that alpha means nothing.
        """
        alpha, scalar = self.number("alpha"), self.number("scalar")
        stated = self.module.stated_scale
        ratio = 1.0 if rank is None else stated if alpha is None else alpha / rank
        return ratio if scalar is None else ratio * scalar

    def matrix(self, part: str) -> LoraTensor:
        """Return a part as [rows, columns]: the axes after the first are flattened."""
        tensor = self[part]
        if not tensor.shape or 0 in tensor.shape:
            raise self.refused(part)
        return tensor.reshaped((tensor.shape[0], tensor.elements // tensor.shape[0]))

    def refused(self, *parts: str, wanted: str = "") -> EngineError:
        """Return the error for parts whose shapes do not fit each other, or the weight `wanted`."""
        shapes = " and ".join(
            f"{part} {list(self.module.tensors[part].shape)}" for part in parts if part in self
        )
        end = f" do not fit {wanted}" if wanted else " do not fit each other"
        return EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            sentence(
                "The LoRA {file} does not work: in {layer}, {shapes}{end}.",
                file=self.file,
                layer=self.module.layer,
                shapes=shapes,
                end=end,
            ),
            sentence("It may be for other checkpoints, or it is damaged."),
        )
