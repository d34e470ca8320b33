"""Predictions of what runs take beside weights, held to the peaks of private memory.

Networks are as wide as published and have few blocks. `docs/memory.md` has more sizes.
"""

from importlib.util import find_spec

import pytest

from benchmarks.child import Child
from tests.graphs.wide_jobs import WIDE

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

_SIDE = 512
_MOST_MISS = 0.15


@pytest.mark.parametrize("backend", ["cpu", "intel_openvino"])
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in WIDE for name in WIDE[kind]])
def test_a_run_takes_what_is_predicted(kind: str, name: str, backend: str) -> None:
    if backend == "intel_openvino" and find_spec("openvino") is None:
        pytest.skip("openvino is not installed")
    options = {"kind": kind, "network": name, "backend": backend, "precision": "f32"}
    contexts = WIDE[kind][name].contexts
    with Child("wide network", **options) as child:
        packed = child.ask("packed", contexts=contexts)["bytes"]
    with Child("wide network", **options) as child:
        run = child.ask("run", height=_SIDE, width=_SIDE, contexts=contexts)
    assert run["predicted"] == pytest.approx(run["bytes"] - packed, rel=_MOST_MISS)
