"""controlnet_aux's networks and detectors, without the rest of that package.

Its `__init__` imports every detector, and with them torchvision, timm and scikit-image, which
nothing here needs. So the package is entered into `sys.modules` empty, and its modules are loaded
from the installed files.
"""
# pyright: basic, reportMissingImports=false
# controlnet_aux has no annotations and is absent from the environment that is type-checked.

import importlib
import sys
from importlib.metadata import distribution
from types import ModuleType


def load(name: str) -> ModuleType:
    """Import `controlnet_aux.<name>`; raises PackageNotFoundError where it is missing."""
    if "controlnet_aux" not in sys.modules:
        package = ModuleType("controlnet_aux")
        package.__path__ = [str(distribution("controlnet_aux").locate_file("controlnet_aux"))]
        sys.modules["controlnet_aux"] = package
    return importlib.import_module(f"controlnet_aux.{name}")
