"""The memory of runs beside weights on the processor, held to its prediction.

`tests/oracle/test_run_memory.py` has networks of full width.
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
from benchmarks.measure import private_bytes
from benchmarks.peers import wide_network
from engine.graphs.live_results import held_results
from engine.memory.release import return_free_memory
from tests.backends.narrow_networks import networks
from tests.graphs.wide_networks import DENOISERS

DENOISERS.update(networks())
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
@pytest.mark.parametrize("name", thinned(["unet", "sd3", "flux", "control", "t5"], ["t5"]))
def test_a_run_takes_the_predicted_buffers(name: str) -> None:
    command = [sys.executable, "-c", CODE, name]
    taken, predicted = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert predicted == pytest.approx(taken, rel=0.15)
