"""An upscaler's file in spandrel, by torch on the processor, over the whole picture."""
# pyright: basic, reportMissingImports=false
# spandrel and torch are absent from the environment that is type-checked.

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from benchmarks.child import Answer


class Spandrel:
    """The peer, in float32."""

    def __init__(self, file: str, backend: str) -> None:
        import torch
        from safetensors.torch import load_file

        from tests.oracle.spandrel_networks import loaded

        self._torch, self._backend = torch, backend
        self._model = loaded(load_file(file))

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Enlarge noise of a `side`."""
        torch, side = self._torch, int(options["side"])
        planes = torch.rand(1, 3, side, side)
        start = perf_counter()
        with torch.inference_mode():
            self._model(planes)
        return {"seconds": perf_counter() - start, "task": task}
