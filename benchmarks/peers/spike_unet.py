"""The reference implementation as a peer: the first experiment's UNet and OpenVINO binding."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the spike has no types)

import json
import struct
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.child import Answer
from benchmarks.spike import GraphBuilder, bind_openvino, model, unet
from benchmarks.workload import DENOISER, feeds


class Spike:
    """The spike's UNet over a diffusers UNet file in float32."""

    def __init__(self, unet_file: str) -> None:
        with open(unet_file, "rb") as file:  # noqa: PTH123 (as the spike's own main does)
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(length)) | {"__base__": 8 + length}
        builder = GraphBuilder(header, fused=False)
        network = model(builder, unet(builder), "inputs")
        self._run, self._keep_alive = bind_openvino(network, unet_file, header)
        given = feeds(DENOISER, 1)
        self._feeds = {
            "sample": np.concatenate([given["sample"]] * 2),
            "timestep": given["timestep"].astype("int64"),
            "encoder_hidden_states": given["context"],
        }

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one step."""
        start = perf_counter()
        self._run(self._feeds)
        return {"seconds": perf_counter() - start}
