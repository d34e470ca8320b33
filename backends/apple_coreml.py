"""CoreML on Apple's processors, through the provider in ONNX Runtime's wheel for macOS.

Compiles "ML programs", one per size. Never run by us: written from the provider's documentation and
source (https://onnxruntime.ai/docs/execution-providers/CoreML-ExecutionProvider.html).
"""

import platform
import sys
from pathlib import Path

from backends import hardware
from backends.base import (
    Artifact,
    Backend,
    Cancellation,
    Compilation,
    Device,
    DType,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from backends.forms import GeluForm
from backends.onnx_runtime.installed import installed, unusable
from backends.onnx_runtime.provider import Provider

_PROVIDER = "CoreMLExecutionProvider"


def provider(cache: Path | None) -> Provider:
    """Return the provider: CoreML chooses the unit and keeps ML programs in `cache`."""
    options = {"ModelFormat": "MLProgram", "MLComputeUnits": "ALL"}
    if cache is not None:
        # Most of the provider's operators need constant shapes, so input sizes must be fixed.
        options |= {"RequireStaticInputShapes": "1", "ModelCacheDirectory": str(cache)}
    return Provider(_PROVIDER, options)


class CoreMlBackend(Backend):
    """The graphics processor and neural engine of a Mac."""

    name = "apple_coreml"

    def probe(self) -> list[Device]:
        """Return the Mac's own processor as a device. Never raises."""
        if sys.platform != "darwin":
            return [self._device("Apple graphics", "CoreML is a part of macOS")]
        for adapter in hardware.of_maker(hardware.list_adapters(), "Apple"):
            reason = adapter.unusable or unusable(_PROVIDER, "onnxruntime")
            return [self._device(adapter.name, reason)]
        return [self._device("Apple graphics", "this Mac has no processor of Apple's own")]

    def _device(self, name: str, reason: str | None) -> Device:
        precisions = () if reason else (Precision.F16, Precision.F32)
        return Device(self.name, "gpu", name, precisions, unusable=reason)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that the provider can build as an ML program."""
        return OperatorSet(opset=20, elements=(DType.F32, DType.F16), gelu=GeluForm.STANDARD)

    def fingerprint(self, device: Device) -> str:
        """Return the versions of ONNX Runtime and macOS (with CoreML), and the processor."""
        return f"{installed()} macOS {platform.mac_ver()[0]} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return main memory, which the graphics processor shares."""
        return hardware.host_memory()

    def compilation(self, device: Device) -> Compilation | None:
        """Return the properties: one program per size, which contains the weights."""
        return Compilation(ShapeSupport.STATIC, carries_weights=True)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        """Compile for the profile's optimum sizes. Raises BackendError or RunCancelled."""
        from backends.onnx_runtime.static import compile_static

        return compile_static(graph, provider, profile, folder, progress, cancel)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError or RunCancelled."""
        from backends.onnx_runtime.static import load_static

        return load_static(graph, provider, artifact, progress, cancel)
