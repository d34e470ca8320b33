"""Our networks beside the ones of diffusers and transformers, on the same weights."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from backends.base import Array, DType, Precision, Session
from backends.registry import BACKENDS
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import Target, relative_error
from tests.graphs.networks import graph_in_memory, wanted
from tests.thinned import thinned

Emit = Callable[[GraphBuilder], None]

LOG = logging.getLogger(__name__)
# Relative L2 error allowed.
TOLERANCES = {
    ("cpu", Precision.F32): 1e-5,
    ("torch_device", Precision.F32): 1e-5,
    ("torch_device", Precision.BF16): 3e-2,
    ("torch_device", Precision.F16): 1e-2,
    ("intel_openvino", Precision.F32): 1e-4,
    ("intel_openvino", Precision.BF16): 3e-2,
}


def targets() -> Iterator[Target]:
    """Every backend that computes, in every precision and element type."""
    for reference in BACKENDS:
        backend = reference.create()
        for device in backend.probe():
            for precision in device.precisions:
                for element in backend.operators(device).elements:
                    if reference.name == "torch_device" and element is not precision.dtype:
                        continue  # its own tests have the other ones
                    computes = (reference.name, precision) in TOLERANCES
                    if computes and element.itemsize >= precision.dtype.itemsize:
                        yield Target(backend, device, precision, element)


def label(target: Target) -> str:
    return f"{target.backend.name}-{target.precision}-{target.element}"


def in_float32(target: Target) -> bool:
    """True if the target is in float32 throughout."""
    return target.precision is Precision.F32 and target.element is DType.F32


def float32_targets() -> list[Target]:
    """Every backend that computes, in float32 throughout."""
    return [target for target in targets() if in_float32(target)]


def thinned_targets(
    name: str,
    cases: Iterable[object],
    tried: Iterable[Target],
    wanted: Callable[[Target], bool] = lambda _: True,
) -> pytest.MarkDecorator:
    """Parametrize `name` and `target`: the first case on each target, the others on the processor.

    Each backend's operators have tests of their own; `make thorough` has every pair, and what is
    not `wanted`.
    """
    first, *others = cases
    pairs = list(product((first, *others), tried))
    often = [
        (case, target)
        for case, target in pairs
        if wanted(target) and (case is first or target.backend.name == "cpu")
    ]
    return pytest.mark.parametrize(
        (name, "target"), thinned(pairs, often, pytest.mark.slow), ids=_id
    )


def _id(given: object) -> str:
    return label(given) if isinstance(given, Target) else getattr(given, "__name__", str(given))


def load(target: Target, emit: Emit, weights: Mapping[str, Array]) -> Session:
    """Load our network with those of the weights that it uses."""
    used = {name: weights[name] for name in wanted(emit)}
    operators = target.backend.operators(target.device)
    graph = graph_in_memory(emit, used, operators, target.element, target.precision)
    return target.load(graph)


def run(
    target: Target, emit: Emit, weights: Mapping[str, Array], feeds: Mapping[str, Array]
) -> dict[str, Array]:
    """Run our network once; return its outputs."""
    session = load(target, emit, weights)
    made = session.run(feeds)
    session.close()
    return made


@dataclass(frozen=True)
class Case:
    """A network in both forms: ours to emit and to feed, theirs to call on a module."""

    emit: Emit
    feeds: Mapping[str, Array]
    module: torch.nn.Module
    call: Callable[[Any], torch.Tensor]
    prefix: str = ""
    # Which of several outputs to compare.
    output: str = ""

    def weights(self) -> dict[str, Array]:
        """The module's weights, under our names."""
        return {
            self.prefix + name.removeprefix(self.prefix): tensor.numpy()
            for name, tensor in self.module.state_dict().items()
            if "position_ids" not in name
        }

    def expected(self, dtype: torch.dtype = torch.float32) -> Array:
        """The output of the reference network."""
        module = self.module.to(dtype)
        with torch.no_grad():
            result = self.call(module).float().numpy()
        self.module.to(torch.float32)
        return result

    def loaded(self, target: Target) -> Session:
        """Our network, ready to run."""
        return load(target, self.emit, self.weights())

    def ours(self, session: Session) -> Array:
        """The output of our network."""
        results = session.run(self.feeds)
        return results[self.output] if self.output else next(iter(results.values()))

    def check(self, target: Target) -> None:
        """Within the tolerance; in bfloat16 else not much worse than torch's own bfloat16."""
        check_all(target, [self])

    def compare(self, target: Target, session: Session) -> None:
        """Compare what a session of this network computes on the target."""
        expected, allowed = self.expected(), TOLERANCES[target.backend.name, target.precision]
        result = self.ours(session)
        assert result.shape == expected.shape
        error = relative_error(result, expected)
        note = ""
        if error > allowed and target.precision is Precision.BF16:
            theirs = relative_error(self.expected(torch.bfloat16), expected)
            allowed, note = 1.5 * theirs, f"; torch's own bfloat16 is off by {theirs:.1e}"
        LOG.info("relative error %.1e of %.1e%s", error, allowed, note)
        assert error <= allowed


def check_all(target: Target, cases: Sequence[Case]) -> None:
    """Check inputs of one network by one session; each case has the weights of the first."""
    session = cases[0].loaded(target)
    for case in cases:
        case.compare(target, session)
    session.close()


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)
