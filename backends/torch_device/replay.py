"""CUDA graphs: a run is recorded once and launched as one when the same shapes come again."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
# (torch is absent from the environment that is type-checked)

from collections.abc import Callable

import torch

Values = dict[str, torch.Tensor]
# A function that consumes its argument.
Compute = Callable[[Values], list[torch.Tensor]]
_Key = tuple[tuple[str, tuple[int, ...]], ...]
# Errors of recording; the last two occur on devices or builds without CUDA.
_CAPTURE_FAULTS = (RuntimeError, AssertionError, ValueError)


class Replay:
    """A function like `compute`: direct for new shapes, a recorded launch when they repeat.

    Keeps the record of one set of shapes, because each holds the memory of all its intermediate
    values. Shapes that cannot be recorded are always computed directly.
    """

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._last: _Key | None = None
        self._record: _Record | None = None
        self.refused: dict[_Key, str] = {}

    def __call__(self, values: Values) -> list[torch.Tensor]:
        """Return the outputs, which are valid until the next call."""
        key = tuple((name, tuple(tensor.shape)) for name, tensor in values.items())
        if key != self._last or key in self.refused:
            self._last, self._record = key, None
            return self._compute(values)
        if self._record is None:
            try:
                self._record = _Record(self._compute, values)
            except _CAPTURE_FAULTS as error:
                self.refused[key] = str(error)
                return self._compute(values)
        return self._record.replay(values)


class _Record:
    """A CUDA graph, with the memory of its inputs and outputs."""

    def __init__(self, compute: Compute, values: Values) -> None:
        self._inputs = {name: tensor.clone() for name, tensor in values.items()}
        self._device = next(iter(values.values())).device
        with torch.cuda.device(self._device):
            torch.cuda.synchronize()
            # Libraries allocate workspaces on a stream's first use, which cannot be recorded.
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                compute(dict(self._inputs))
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._outputs = compute(dict(self._inputs))

    def replay(self, values: Values) -> list[torch.Tensor]:
        """Launch the record on other inputs of the same shapes."""
        for name, tensor in values.items():
            self._inputs[name].copy_(tensor)
        with torch.cuda.device(self._device):
            self._graph.replay()
        return self._outputs
