"""SDXL's UNet at 1024 x 1024, guided: run as in a job, or by bare calls of OpenVINO."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Precision
from backends.intel_openvino import OpenVinoBackend, core
from backends.intel_openvino.model import read_with_weights
from backends.mapped_weights import mapped_weights
from benchmarks import networks
from benchmarks.child import Answer
from benchmarks.peers.timing import timed
from benchmarks.workload import SDXL_SIZE, Array, sdxl_feeds
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.graphs.unet import size_embedding
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

_WAVES = 256


class SdxlUnet:
    """The denoiser in OpenVINO, bfloat16, from the working copy in `folder`.

    With `bare`, our graph is compiled and called directly, without the engine's compiler and its
    session, which keeps unchanged inputs on the device.
    """

    def __init__(self, checkpoint: str, folder: str, *, bare: bool) -> None:
        found = identify(Path(checkpoint))
        network = found.architecture.denoiser.network(SDXL_SIZE, SDXL_SIZE)
        backend, copies = OpenVinoBackend(), WorkingCopies(Path(folder))
        device = next(device for device in backend.probe() if device.id == "cpu")
        feeds = _inputs() | found.architecture.denoiser.timestep_inputs(500.0)
        if bare:
            self._graph = networks.graph(network, backend.operators(device), Precision.BF16, copies)
            self._weights = mapped_weights(self._graph.weights)
            model = read_with_weights(core(), self._graph.model, self._weights)
            compiled = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
            self._request = compiled.create_infer_request()
            self._run = lambda: self._infer(feeds)
        else:
            session = Compiler(backend, device, copies).load(
                network,
                Precision.BF16,
                WeightPlacement.WORKING_COPY,
                lambda _done, _total: None,
                CancelToken(),
            )
            for name in ("context", "added"):
                session.pin(name, feeds.pop(name))
            self._run = lambda: session.run(feeds)["prediction"]

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one step; `save` names a file for the prediction."""
        return timed(self._run, options)

    def _infer(self, feeds: Mapping[str, Array]) -> Array:
        self._request.infer(feeds, share_inputs=True)
        return self._request.get_output_tensor(0).data


def _inputs() -> dict[str, Array]:
    given = sdxl_feeds()
    sizes = np.tile(size_embedding(given["sizes"].tolist(), _WAVES), (2, 1))
    return {
        "sample": given["sample"],
        "context": given["context"],
        "added": np.concatenate([given["pooled"], sizes], axis=1).astype(np.float32),
    }
