"""Compiling and loading through a provider that makes one program per size.

Such providers (MIGraphX, CoreML) keep their programs in a folder they are given, under names that
do not tell weights apart, so each artifact has a folder of its own.
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
from backends.onnx_runtime.fixed import with_fixed_sizes
from backends.onnx_runtime.provider import Provider
from backends.onnx_runtime.session import OnnxRuntimeSession

# The provider that keeps its programs in a folder, or nowhere.
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
    """Load what was compiled; without an artifact, leave it to the provider to cope with sizes."""
    if cancel.is_set():
        raise RunCancelled
    progress(None)
    if artifact is not None:
        graph = with_fixed_sizes(graph, artifact.profile)
    chosen = provider(artifact.folder if artifact else None)
    return OnnxRuntimeSession(graph, quiet_options(), chosen, cancel)


def quiet_options() -> ort.SessionOptions:
    """Options of a session whose arena gives back what it no longer needs, errors only."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Components are large and run in turn: an arena would keep each one's peak for ever.
    options.enable_cpu_mem_arena = False
    return options
