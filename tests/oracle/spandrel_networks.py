"""Upscalers as spandrel builds them, with random weights.

`import spandrel` imports the modules of all its networks, and those of two others take functions
from torchvision. Where that is absent, or built for another torch, they get an empty module, only
while they are imported: transformers would take it for real.
"""
# pyright: basic, reportMissingImports=false
# spandrel and torch are absent from the environment that is type-checked.

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

_TORCHVISION = "torchvision", "torchvision.transforms", "torchvision.transforms.functional"
_NAMES = ("InterpolationMode", "rotate", "normalize")


def architecture(module: str, name: str) -> Any:
    """Return a class of a network, such as `RRDBNet` of `ESRGAN.__arch.RRDB`."""
    with _without_torchvision():
        return getattr(importlib.import_module(f"spandrel.architectures.{module}"), name)


def loaded(state: dict[str, Any]) -> Any:
    """Return spandrel's descriptor of the tensors of a file, with its `model` and `scale`."""
    with _without_torchvision():
        spandrel = importlib.import_module("spandrel")
    return spandrel.ModelLoader().load_from_state_dict(dict(state)).eval()


def with_random_weights(module: Any, gain: float = 1.0) -> Any:
    """Return a network in evaluation, with weights as after some training: nothing is 0 or 1.

    `gain` is the standard deviation of a layer's result for numbers of unit size.
    """
    torch.manual_seed(0)
    for name, parameter in module.named_parameters():
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 0
        drawn = torch.randn_like(parameter)
        if "relative_position" in name or "rel_pos" in name:
            parameter.data = 0.3 * drawn
        elif fan_in:
            parameter.data = gain * drawn / fan_in**0.5
        else:
            is_scale = name.endswith("weight") or "temperature" in name
            parameter.data = 0.1 * drawn + float(is_scale)
    return module.eval()


@contextmanager
def _without_torchvision() -> Generator[None]:
    if "spandrel" in sys.modules:
        yield
        return
    stubs = {name: ModuleType(name) for name in _TORCHVISION if name not in sys.modules}
    for name, stub in stubs.items():
        for taken in _NAMES:
            setattr(stub, taken, None)
        sys.modules[name] = stub
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, stub)
    try:
        yield
    finally:
        for name in stubs:
            del sys.modules[name]
