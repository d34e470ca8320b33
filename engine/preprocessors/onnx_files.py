"""ONNX files as networks that are shown a picture: read, tried in a process apart, and loaded."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Cancellation, Precision, Session
from engine import result_checks
from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.onnx.reading import read_onnx
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.onnx_network import onnx_network
from engine.errors import Cancelled, EngineError
from engine.memory.plan import WeightPlacement
from engine.preprocessors.annotators import AnnotatorKind


class OnnxFile:
    """An ONNX file that takes one picture, float32 [1, 3, height, width].

    Raises EngineError: as `read_onnx`, and CHECKPOINT_MISMATCH for one that takes something else.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.model = path, read_onnx(path)
        self._shape = self.model.inputs[0].shape
        if len(self.model.inputs) != 1 or len(self._shape) != 4 or not self._takes_one_picture():
            raise mismatch(path.name, sentence("it does not take a picture"))

    def _takes_one_picture(self) -> bool:
        """Tell whether batch and channels are open, or those of one picture in colours."""
        given = zip(self._shape, (1, 3), strict=False)
        return all(isinstance(side, str) or side == wanted for side, wanted in given)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Return the width and height that it takes: its own, or for open sides these."""
        high, wide = self._shape[2:]
        return (
            wide if isinstance(wide, int) else width,
            high if isinstance(high, int) else height,
        )


# Raises EngineError if running a file at a width and height ends the process, and Cancelled.
RequireHarmless = Callable[[OnnxFile, int, int, Cancellation], None]


def suppose_harmless(_file: OnnxFile, _width: int, _height: int, _cancel: Cancellation) -> None:
    """Let the file run, as in the process that tries it."""


class LoadedOnnx:
    """A network of an ONNX file that is ready to run; one that was stopped runs no more.

    `require_harmless` is called before the first run of each width and height, and may raise.
    """

    kind = AnnotatorKind.ONNX

    def __init__(
        self,
        file: OnnxFile,
        compiler: Compiler,
        cancel: Cancellation,
        require_harmless: RequireHarmless = suppose_harmless,
    ) -> None:
        """Load it in float32. Raises EngineError, Cancelled."""
        self.file, self._cancel = file, cancel
        self._require_harmless = require_harmless
        self._ran: set[tuple[int, int]] = set()
        self._device = compiler.device
        self._input = file.model.inputs[0].name
        self._outputs = [output.name for output in file.model.outputs]
        self._session: Session = compiler.load(
            onnx_network(file.model),
            Precision.F32,
            WeightPlacement.MEMORY,
            lambda _done, _total: None,
            cancel,
        )

    def heed(self, cancel: Cancellation) -> None:
        """Have the runs from now on stopped by another request."""
        self._cancel = cancel

    def __call__(self, image: NDArray[np.float32]) -> list[Array]:
        """Return the network's outputs in their order, for a picture [1, 3, height, width].

        Raises EngineError, also NUMERIC_FAILURE where one has no numbers, and Cancelled.
        """
        if self._cancel.is_set():
            raise Cancelled
        height, width = image.shape[2:]
        if (width, height) not in self._ran:
            self._require_harmless(self.file, width, height, self._cancel)
            self._ran.add((width, height))
        with translated_errors(self._device), self._cancel.calling(self._session.cancel):
            found: Mapping[str, Array] = self._session.run({self._input: image})
        outputs = [found[name] for name in self._outputs]
        for output in outputs:
            fault = result_checks.numbers(output)
            if fault is not None:
                raise EngineError(
                    ErrorCode.NUMERIC_FAILURE,
                    sentence(
                        "The map of {name} is {fault}.",
                        name=self.file.path.name,
                        fault=as_it_is(fault),
                    ),
                    sentence("The file may be damaged: download it again."),
                )
        return outputs

    def close(self) -> None:
        """Free the network's memory."""
        self._session.close()


def mismatch(name: str, what: Sentence) -> EngineError:
    """Return the error for a file whose network is not of the kind that is needed."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence("{path} cannot be used for this: {what}.", path=name, what=what),
        sentence("Choose another file."),
    )
