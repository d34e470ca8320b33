"""A real runtime's artifacts: OpenVINO's blobs, as for its other devices but on the processor."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import (
    Array,
    Artifact,
    Cancellation,
    Compilation,
    Device,
    Graph,
    Precision,
    Progress,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from engine.cancel import CancelToken
from engine.compile import manifest
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.manifest import MANIFEST
from engine.compile.network import Network
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import network, run, write_weights

if find_spec("openvino") is None:
    pytest.skip("openvino is not installed", allow_module_level=True)

from backends.intel_openvino import OpenVinoBackend


class CompilingProcessor(OpenVinoBackend):
    """Keeps a blob for each size, with the weights in it."""

    def __init__(self, version: str = "") -> None:
        self.compiles: list[Mapping[str, int]] = []
        self.loads: list[Artifact | None] = []
        self._version = version

    def fingerprint(self, device: Device) -> str:
        return super().fingerprint(device) + self._version

    def compilation(self, device: Device) -> Compilation | None:
        return Compilation(ShapeSupport.STATIC, carries_weights=True, interruptible=True)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        self.compiles.append({name: r.optimum for name, r in profile.dimensions.items()})
        return super().compile(graph, device, profile, folder, progress, cancel)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.loads.append(artifact)
        return super().load(graph, artifact, device, progress, cancel)


@dataclass
class Start:
    """Starts from nothing each time, but for what is on disk."""

    folder: Path

    def load(self, made: Network, version: str = "") -> tuple[Session, CompilingProcessor]:
        backend = CompilingProcessor(version)
        (device,) = (device for device in backend.probe() if device.id == "cpu")
        device = msgspec.structs.replace(device, precisions=(Precision.F32,))
        compiler = Compiler(
            backend,
            device,
            WorkingCopies(self.folder / "weights"),
            ArtifactStore(self.folder / "compiled"),
        )
        session = compiler.load(
            made,
            Precision.F32,
            WeightPlacement.MEMORY,
            lambda _done, _total: None,
            CancelToken(),
        )
        return session, backend

    def numbers(self, made: Network, rows: int = 2, version: str = "") -> tuple[Array, int]:
        """The output, and how many compiles it took."""
        session, backend = self.load(made, version)
        try:
            return run(session, rows), len(backend.compiles)
        finally:
            session.close()

    def blob(self) -> Path:
        (blob,) = (self.folder / "compiled").rglob("*.blob")
        return blob


@pytest.fixture
def start(tmp_path: Path) -> Start:
    return Start(tmp_path / "cache")


@pytest.fixture
def made(tmp_path: Path) -> Network:
    return network(write_weights(tmp_path / "checkpoint.safetensors"))


def test_the_blob_is_what_is_loaded_the_second_time(start: Start, made: Network) -> None:
    first, compiles = start.numbers(made)
    assert compiles == 1
    again, compiles = start.numbers(made)
    assert compiles == 0
    np.testing.assert_array_equal(first, again)


def test_other_weights_have_another_blob(start: Start, made: Network, tmp_path: Path) -> None:
    other = network(write_weights(tmp_path / "other.safetensors", seed=1))
    first, _ = start.numbers(made)
    second, compiles = start.numbers(other)
    assert compiles == 1
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(start.numbers(made)[0], first)
    np.testing.assert_array_equal(start.numbers(other)[0], second)


def test_another_version_or_driver_compiles_anew(start: Start, made: Network) -> None:
    start.numbers(made)
    assert start.numbers(made, version=" driver 2")[1] == 1


def test_sizes_are_compiled_as_they_come_and_rows_run_in_parts(start: Start, made: Network) -> None:
    five, compiles = start.numbers(made, rows=5)
    assert compiles == 1
    np.testing.assert_allclose(five, np.repeat(start.numbers(made)[0][:1], 5, axis=0), rtol=1e-5)


def test_a_blob_with_a_changed_byte_is_compiled_anew(start: Start, made: Network) -> None:
    whole, _ = start.numbers(made)
    content = bytearray(start.blob().read_bytes())
    content[len(content) // 2] ^= 0xFF
    start.blob().write_bytes(content)
    again, compiles = start.numbers(made)
    assert compiles == 1
    np.testing.assert_array_equal(whole, again)


def test_a_blob_that_openvino_refuses_is_compiled_anew(
    start: Start, made: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No checksum is looked at here: the blob's beginning shows that it is not of this version."""
    monkeypatch.setattr(manifest, "READ_BYTES", 0)
    whole, _ = start.numbers(made)
    blob = start.blob()
    facts = blob.stat()
    content = blob.read_bytes()
    blob.write_bytes(bytes(256) + content[256:])
    os.utime(blob, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    again, compiles = start.numbers(made)
    assert compiles == 1
    np.testing.assert_array_equal(whole, again)


def test_clearing_while_it_is_used(start: Start, made: Network) -> None:
    session, _ = start.load(made)
    before = run(session)
    store = ArtifactStore(start.folder / "compiled")
    store.remove()
    assert (start.blob().parent / MANIFEST).exists()
    np.testing.assert_array_equal(run(session), before)
    session.close()
    store.remove()
    assert store.listed() == ()
    assert start.numbers(made)[1] == 1
