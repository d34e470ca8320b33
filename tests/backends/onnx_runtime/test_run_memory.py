"""The memory of runs beside weights on ONNX Runtime's processor, held to its prediction.

`tests/oracle/test_run_memory.py` has networks of full width.
"""

import json
import subprocess
import sys

import pytest

from tests.thinned import thinned

# Prints what two runs took beside what a small one leaves, and the prediction: weights are packed
# while a network loads.
CODE = """
import json, sys
from benchmarks.peers import wide_network
from tests.backends.narrow_networks import networks
from tests.graphs.wide_networks import DENOISERS

DENOISERS.update(networks())
peer = wide_network.WideNetwork("denoiser", sys.argv[1], "cpu", "f32")
side = int(sys.argv[2])
size = {"height": side, "width": side, "contexts": 2}
packed = peer.answer("packed", size)
run = peer.answer("run", size)
print(json.dumps([run["bytes"] - packed["bytes"], run["predicted"]]))
"""


# Of smaller pictures the UNets' runs take little beside the 14 MB that are always told.
@pytest.mark.skipif(sys.platform != "linux", reason="no way to tell private memory")
@pytest.mark.parametrize(
    ("name", "side"),
    thinned(
        [("unet", 1024), ("sd3", 512), ("flux", 512), ("control", 1024), ("t5", 512)],
        [("t5", 512)],
        seldom=[("unet", 1024)],
    ),
)
def test_a_run_takes_what_a_simulation_of_its_arena_does(name: str, side: int) -> None:
    command = [sys.executable, "-c", CODE, name, str(side)]
    taken, predicted = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert predicted == pytest.approx(taken, rel=0.15)
