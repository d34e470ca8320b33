"""Execution providers in packages of their own, loaded into ONNX Runtime.

A package such as `onnxruntime_ep_webgpu` names its library and its providers
(https://onnxruntime.ai/docs/execution-providers/plugin-ep-libraries).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false, reportUnknownParameterType=false
# (the runtime ships no complete types)

from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from backends.base import BackendError

if TYPE_CHECKING:
    import onnxruntime as ort

# Errors of importing a package or its library; some packages create links in their folder.
_IMPORT_FAULTS = (ImportError, OSError, RuntimeError, AttributeError, ValueError)

_registered: set[str] = set()
_lock = Lock()


def plugin_devices(module_name: str) -> "tuple[ort.OrtEpDevice, ...]":
    """Return the devices of a plug-in package; its library is registered once per process.

    Raises BackendError with the reason: the package or ONNX Runtime is missing, too old, or its
    library does not load. Returns an empty tuple if it finds no device.
    """
    package = module_name.replace("_", "-")
    if find_spec(module_name) is None:
        raise BackendError(f"{package} is not installed")
    try:
        module = import_module(module_name)
        path, names = str(module.get_library_path()), list(module.get_ep_names())
    except _IMPORT_FAULTS as error:
        raise BackendError(f"{package} does not start: {error}") from error
    return library_devices(package, path, names)


def library_devices(title: str, path: str, names: list[str]) -> "tuple[ort.OrtEpDevice, ...]":
    """Return the devices of the providers `names` in the library at `path`.

    `title` names the library in messages. Raises BackendError.
    """
    if find_spec("onnxruntime") is None:
        raise BackendError(f"onnxruntime is not installed, which {title} works in")
    try:
        import onnxruntime as ort

        from backends.onnx_runtime.errors import translated_errors
    except _IMPORT_FAULTS as error:
        raise BackendError(f"ONNX Runtime does not start: {error}") from error
    if not hasattr(ort, "register_execution_provider_library"):
        raise BackendError(f"ONNX Runtime {ort.__version__} is too old to load {title}")
    wanted = {name.lower() for name in names}
    with _lock, translated_errors():
        if path not in _registered:
            # Some providers (TensorRT-RTX) use the name they are registered under as their own.
            ort.register_execution_provider_library(names[0], path)
            _registered.add(path)
        return tuple(d for d in ort.get_ep_devices() if d.ep_name.lower() in wanted)
