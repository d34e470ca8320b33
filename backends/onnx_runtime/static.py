"""Compiling and loading through a provider that makes one program per size.

Such providers (MIGraphX, CoreML) keep their programs in a given folder, under names that do not
distinguish weights, so each artifact has a folder of its own.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Callable
from pathlib import Path

import onnxruntime as ort

from backends.base import (
    Artifact,
    Cancellation,
    Graph,
    Progress,
    RunCancelled,
    Session,
    ShapeProfile,
)
from backends.onnx_runtime.bound import Binding
from backends.onnx_runtime.fixed import with_fixed_sizes
from backends.onnx_runtime.provider import Provider
from backends.onnx_runtime.session import OnnxRuntimeSession

# Returns the provider that keeps its programs in the given folder, or with None keeps none.
ProviderFor = Callable[[Path | None], Provider]


def compile_static(
    graph: Graph,
    provider: ProviderFor,
    profile: ShapeProfile,
    folder: Path,
    progress: Progress,
    cancel: Cancellation,
) -> Artifact:
    """Compile for the profile's optimum into `folder`. Raises BackendError or RunCancelled."""
    folder.mkdir(parents=True, exist_ok=True)
    artifact = Artifact(folder, profile)
    load_static(graph, provider, artifact, progress, cancel).close()
    return artifact


def load_static(
    graph: Graph,
    provider: ProviderFor,
    artifact: Artifact | None,
    progress: Progress,
    cancel: Cancellation,
) -> Session:
    """Return a session of a compiled artifact; without one, the provider handles sizes itself."""
    if cancel.is_set():
        raise RunCancelled
    progress(None)
    if artifact is not None:
        graph = with_fixed_sizes(graph, artifact.profile)
    chosen = provider(artifact.folder if artifact else None)
    return OnnxRuntimeSession(graph, quiet_options(), chosen, cancel, binding=Binding.IF_IT_WORKS)


def quiet_options() -> ort.SessionOptions:
    """Return session options with errors only, and without an arena for the processor's nodes."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # These compute little on the processor: an arena would only keep what their values took.
    options.enable_cpu_mem_arena = False
    return options
