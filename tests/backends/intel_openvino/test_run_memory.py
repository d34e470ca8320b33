"""The memory of runs beside weights on the processor, held to its prediction.

Networks have the blocks of published ones and are narrow; `tests/oracle/test_run_memory.py` has
those of full width.
"""

import json
import subprocess
import sys

import pytest

from tests.thinned import thinned

pytest.importorskip("openvino")

# Prints what a run took beside that which stays when its buffers and what it left are freed, and
# the prediction. What attention packs stays, too, and is no weight.
CODE = """
import json, os, sys
from functools import partial
from benchmarks.measure import private_bytes
from benchmarks.peers import wide_network
from engine.graphs.flux import FluxConfig, flux
from engine.graphs.live_results import held_results
from engine.graphs.sd3 import Sd3Config, sd3
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.memory.release import return_free_memory
from tests.graphs.wide_networks import DENOISERS, WideNetwork

from engine.graphs.control_net import ControlNetConfig, control_net
from engine.graphs.t5 import T5Config, position_buckets, t5_encoder
from dataclasses import replace
import numpy as np
from tests.graphs.wide_jobs import encoder_of

def block(width, layers, depth, resample):
    return UNetBlock(width, (depth,) * layers, width // 64, resample)

UNET = UNetConfig(
    in_channels=4, out_channels=4, context_width=128, mid=block(256, 1, 1, False),
    down=(block(64, 2, 0, True), block(128, 2, 1, True), block(256, 2, 1, False)),
    up=(block(256, 3, 1, True), block(128, 3, 1, True), block(64, 3, 0, False)),
    linear_projection=True, added_width=64)
DENOISERS["unet"] = WideNetwork(partial(unet, config=UNET, halves_evenly=True), tokens=77)
control = replace(DENOISERS["unet"], fed=lambda sizes: {"row_contexts": np.arange(sizes["rows"])},
    emit=partial(control_net, config=ControlNetConfig(encoder_of(UNET))))
DENOISERS["control"] = replace(DENOISERS["unet"], before=(control,))
DENOISERS["t5"] = WideNetwork(partial(t5_encoder, config=T5Config(
    512, width=1024, heads=16, head_width=64, mlp_width=2816, layers=2)), tokens=512,
    fed=lambda sizes: {"tokens": np.zeros((1, sizes["tokens"]), np.int64),
        "buckets": position_buckets(sizes["tokens"])})
DENOISERS["sd3"] = WideNetwork(partial(sd3, config=Sd3Config(
    channels=16, width=512, heads=8, mlp_width=2048, context_width=256, pooled_width=64, blocks=3,
    places=192, normalised=True, dual_blocks=(0,))), tokens=333)
DENOISERS["flux"] = WideNetwork(partial(flux, config=FluxConfig(
    in_channels=64, out_channels=64, width=512, heads=4, mlp_width=2048, context_width=256,
    double_blocks=1, single_blocks=1, pooled_width=64)), tokens=512)
peer = wide_network.WideNetwork("denoiser", sys.argv[1], "intel_openvino", "f32")
run = peer.answer("run", {"height": 512, "width": 512, "contexts": 2})
for session in peer._sessions:
    session._request.get_compiled_model().release_memory()
return_free_memory()
left = sum(array.nbytes for session in peer._sessions for array in session._left)
memory = peer._memory
packed = sum(
    max((one.bytes_for(4, memory.threads, memory.cache_bytes) for one in packs), default=0)
    for one, graph in zip(peer._networks, peer._graphs, strict=True)
    for packs in [held_results(graph, one.sizes(512, 512, 2)).packed]
)
held = private_bytes(os.getpid()) - left - packed
print(json.dumps([run["bytes"] - held, run["predicted"]]))
"""


# "control" is "unet", after a network from which it takes.
@pytest.mark.parametrize(
    "name", thinned(["unet", "sd3", "flux", "control", "t5"], ["control", "t5"])
)
def test_a_run_takes_the_predicted_buffers(name: str) -> None:
    command = [sys.executable, "-c", CODE, name]
    taken, predicted = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert predicted == pytest.approx(taken, rel=0.15)
