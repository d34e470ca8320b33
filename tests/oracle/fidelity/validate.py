"""Run a tool's own code beside the loops here.

`python -m tests.oracle.fidelity.validate CHECKOUT [WORDS]`

CHECKOUT is a clone of https://github.com/AUTOMATIC1111/stable-diffusion-webui or of
https://github.com/comfyanonymous/ComfyUI. Its sampling, noise, levels, guidance and prompt code are
imported and run on the networks of the proof; what they need of the rest of the tool (options, the
user interface, memory) is put in their place. Every cell of that tool is compared, or those
with one of the words in their names.
"""
# pyright: basic, reportMissingImports=false

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock
from warnings import simplefilter

import numpy as np
import torch
from numpy.typing import NDArray

from tests.oracle.fidelity.matrix import cells
from tests.oracle.fidelity.networks import Networks
from tests.oracle.fidelity.picture import Picture
from tests.pipeline.jobs import psnr
from tests.tiny_checkpoint import write_checkpoint

Render = Callable[[Networks, Picture], NDArray[np.uint8]]


class Stubs(MetaPathFinder, Loader):
    """Stands in for the modules of a package that are not among the real ones."""

    def __init__(self, package: str, real: frozenset[str]) -> None:
        self.package, self.real = package, real

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """A stub for the package's modules, and for nothing else."""
        head, _, rest = fullname.partition(".")
        if head != self.package or not rest or rest in self.real:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module that has every name."""
        module = _AnyModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run."""


class _AnyModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = MagicMock(name=f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


def enter(checkout: Path, package: str, real: frozenset[str]) -> None:
    """Make a checkout's package importable, with stubs for all but the real modules."""
    module = ModuleType(package)
    module.__path__ = [str(checkout / package)]
    sys.modules[package] = module
    sys.meta_path.insert(0, Stubs(package, real))


def main(checkout: Path, words: list[str]) -> int:
    """Print each comparison; the exit status counts those below 60 dB."""
    simplefilter("ignore")
    torch.set_num_threads(1)
    comfy = (checkout / "comfy").is_dir()
    name = "validate_comfy" if comfy else "validate_a1111"
    tool = importlib.import_module(f"tests.oracle.fidelity.{name}")
    theirs: Render = tool.load(checkout)
    low = 0
    with TemporaryDirectory() as folder:
        networks = {
            kind: Networks(write_checkpoint(Path(folder) / kind, prediction=kind))
            for kind in ("epsilon", "v_prediction")
        }
        for cell in cells():
            if cell.tool != tool.TOOL or (words and not any(word in cell.name for word in words)):
                continue
            picture = replace(cell.picture, source="cpu") if comfy else cell.picture
            loaded = networks[picture.prediction]
            mine = replace(cell, picture=picture).reference(loaded)
            figure = psnr(mine, theirs(loaded, picture))
            low += figure < 60
            sys.stdout.write(f"{figure:5.1f}  {cell.name}{' LOW' if figure < 60 else ''}\n")
            sys.stdout.flush()
    return low


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1]), sys.argv[2:]), 100))
