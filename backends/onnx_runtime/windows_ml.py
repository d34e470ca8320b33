"""Providers in Windows ML's catalog, shared by all programs, on Windows 11 24H2 and later.

The package `windowsml` accesses the catalog; a provider's library is then loaded like any other
plug-in's (https://learn.microsoft.com/windows/ai/new-windows-ml/register-execution-providers).
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# (a package for Windows, and a runtime that ships no complete types)

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from backends.base import BackendError
from backends.onnx_runtime.plugins import library_devices

if TYPE_CHECKING:
    import onnxruntime as ort

_PACKAGE = "windowsml"


def catalog_devices(provider: str) -> "tuple[ort.OrtEpDevice, ...]":
    """Return the devices of a provider in the catalog; its name is compared without case.

    Raises BackendError with the reason if there is none. Nothing is downloaded: for a provider that
    Windows has not fetched yet, the reason says what to do.
    """
    if sys.platform != "win32":
        raise BackendError("Windows ML is a part of Windows")
    if find_spec(_PACKAGE) is None:
        raise BackendError(f"{_PACKAGE} is not installed")
    path = _library(provider)
    return library_devices(f"{_PACKAGE} {provider}", path, [provider])


def _library(provider: str) -> str:
    try:
        windowsml = import_module(_PACKAGE)
        with windowsml.EpCatalog() as catalog:
            for found in catalog.find_all_providers():
                if found.name.lower() != provider.lower():
                    continue
                if found.ready_state == windowsml.EpReadyState.NotPresent:
                    raise BackendError(
                        f"Windows ML offers {found.name} and has not downloaded it: "
                        "ensure_ready() of its catalog does"
                    )
                # For an installed provider this only makes it loadable in this process.
                found.ensure_ready()
                return str(found.library_path)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise BackendError(f"Windows ML's catalog does not answer: {error}") from error
    raise BackendError(f"Windows ML offers no {provider} for this computer")
