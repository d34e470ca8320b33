"""k-diffusion's sampling and denoiser wrappers, without the rest of that package.

Its `__init__` imports training code (torchvision, wandb, CLIP, ...) that nothing here needs. So the
package is entered into `sys.modules` empty, and its modules are loaded from the installed files.
`utils.py` takes one name from torchvision, to turn pictures into tensors; where torchvision is
absent it gets an empty module, only while it is imported: transformers would take it for real.
"""
# pyright: basic, reportMissingImports=false
# k-diffusion has no annotations and is absent from the environment that is type-checked.

import importlib
import importlib.util
import sys
from importlib.metadata import distribution
from types import ModuleType

_TORCHVISION = "torchvision", "torchvision.transforms", "torchvision.transforms.functional"


def load(name: str) -> ModuleType:
    """Import `k_diffusion.<name>`; raises PackageNotFoundError where k-diffusion is missing."""
    if "k_diffusion" not in sys.modules:
        package = ModuleType("k_diffusion")
        package.__path__ = [str(distribution("k-diffusion").locate_file("k_diffusion"))]
        sys.modules["k_diffusion"] = package
        _import_utils()
    return importlib.import_module(f"k_diffusion.{name}")


def _import_utils() -> None:
    stubs = _TORCHVISION if importlib.util.find_spec("torchvision") is None else ()
    for stub in stubs:
        sys.modules[stub] = ModuleType(stub)
        parent, _, child = stub.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[stub])
    try:
        importlib.import_module("k_diffusion.utils")
    finally:
        for stub in stubs:
            del sys.modules[stub]
