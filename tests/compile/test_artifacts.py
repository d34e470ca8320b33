"""Artifacts on disk: damaged ones are made again, those in use stay, full disks stop nobody."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from time import sleep

import msgspec
import numpy as np
import pytest

from backends.base import (
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Graph,
    Precision,
    Progress,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from backends.null import NullBackend
from engine.api.values import ArtifactKind, ErrorCode
from engine.cancel import CancelToken
from engine.checkpoints.index import Stamp
from engine.compile import manifest
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiled import PLAN_BYTES
from engine.compile.manifest import MANIFEST
from engine.errors import EngineError
from engine.file_lock import FileLock
from tests import damages
from tests.compile.compiling import Bench, network, run, write_weights
from tests.windows_files import Scanner, WindowsFiles

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- damage ---


def _file(artifact: Path) -> Path:
    (file,) = (path for path in artifact.iterdir() if path.name != MANIFEST)
    return file


def _change_byte(artifact: Path) -> None:
    content = bytearray(_file(artifact).read_bytes())
    content[len(content) // 2] ^= 1
    _file(artifact).write_bytes(content)


def _change_byte_at_the_same_time(artifact: Path) -> None:
    facts = _file(artifact).stat()
    _change_byte(artifact)
    os.utime(_file(artifact), ns=(facts.st_mtime_ns, facts.st_mtime_ns))


def _truncate(artifact: Path) -> None:
    _file(artifact).write_bytes(_file(artifact).read_bytes()[:-1])


def _lose_file(artifact: Path) -> None:
    _file(artifact).unlink()


def _truncate_manifest(artifact: Path) -> None:
    text = (artifact / MANIFEST).read_bytes()
    (artifact / MANIFEST).write_bytes(text[: len(text) // 2])


def _empty_manifest(artifact: Path) -> None:
    (artifact / MANIFEST).write_bytes(b"")


def _lose_manifest(artifact: Path) -> None:
    (artifact / MANIFEST).unlink()


def _lose_everything(artifact: Path) -> None:
    shutil.rmtree(artifact)


@pytest.mark.parametrize(
    "damage",
    [
        _change_byte,
        _change_byte_at_the_same_time,
        _truncate,
        _lose_file,
        _truncate_manifest,
        _empty_manifest,
        _lose_manifest,
        _lose_everything,
    ],
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_artifact_is_made_again(
    bench: Bench, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    whole = bench.numbers()
    (artifact,) = bench.artifacts()
    damage(artifact)
    assert not bench.compiler().prepared(network(bench.weights), Precision.F32).is_prepared()
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert bench.compiles == 2
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert bench.compiles == 2
    assert len(bench.artifacts()) == 1
    assert bench.left() == set()
    assert caplog.records == []


@pytest.mark.parametrize("damage", damages.parameters())
def test_whatever_becomes_of_a_file_of_an_artifact_it_is_made_again(
    bench: Bench, damage: damages.Damage
) -> None:
    whole = bench.numbers()
    (artifact,) = bench.artifacts()
    for name in (MANIFEST, _file(artifact).name):
        (artifact,) = bench.artifacts()
        damage(artifact / name)
        np.testing.assert_array_equal(bench.numbers(), whole)
        np.testing.assert_array_equal(bench.numbers(), whole)
        assert len(bench.artifacts()) == 1
        assert (bench.artifacts()[0] / name).is_file()


def test_a_large_file_is_not_read_at_each_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "READ_BYTES", 100)
    whole = bench.numbers()
    read: list[Path] = []
    digest = manifest._sha256  # pyright: ignore[reportPrivateUsage]

    def counting(path: Path) -> str:
        read.append(path)
        return digest(path)

    monkeypatch.setattr(manifest, "_sha256", counting)
    bench.numbers()
    assert read == []
    # Another time of change, as of a cache that was copied: read once, and believed from then on.
    (artifact,) = bench.artifacts()
    os.utime(_file(artifact), ns=(10**18, 10**18))
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert read == [_file(artifact)]
    bench.numbers()
    assert read == [_file(artifact)]
    _change_byte(artifact)
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert bench.compiles == 2


def test_a_moved_cache_is_read_once_where_open_files_cannot_be_replaced(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows replaces no open file, and our own lock keeps the manifest open."""

    def replaced(part: Path, path: Path) -> None:
        FileLock(path).release()  # raises BlockingIOError while it is held
        part.replace(path)

    whole = bench.numbers()
    (artifact,) = bench.artifacts()
    os.utime(_file(artifact), ns=(10**18, 10**18))
    before = manifest.read_manifest(artifact)
    monkeypatch.setattr(manifest, "put_in_place", replaced)
    monkeypatch.setattr(sys, "platform", "win32")
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert manifest.read_manifest(artifact) != before


@pytest.mark.skipif(sys.platform == "win32", reason="no time there that a program cannot set")
def test_a_byte_of_a_large_file_that_was_changed_behind_its_time_is_seen(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "READ_BYTES", 100)
    whole = bench.numbers()
    (artifact,) = bench.artifacts()
    _change_byte_at_the_same_time(artifact)
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert bench.compiles == 2


def _believe_times(artifact: Path) -> None:
    """Write the file's present times into the manifest, so that the file is not read again."""
    found = manifest.read_manifest(artifact)
    assert found is not None
    changed = Stamp.of(_file(artifact).stat()).changed
    files = tuple(msgspec.structs.replace(kept, changed=changed) for kept in found.files)
    manifest.write_manifest(artifact, msgspec.structs.replace(found, files=files))


def test_an_artifact_that_the_runtime_refuses_is_made_again_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file whose damage shows in no size and no time."""
    monkeypatch.setattr(manifest, "READ_BYTES", 100)
    whole = bench.numbers()
    (artifact,) = bench.artifacts()
    facts = _file(artifact).stat()
    _file(artifact).write_bytes(bytes(facts.st_size))  # the null backend looks for the end
    os.utime(_file(artifact), ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    _believe_times(artifact)
    np.testing.assert_array_equal(bench.numbers(), whole)
    assert bench.compiles == 2


def test_a_new_artifact_that_the_runtime_refuses_is_an_error(bench: Bench) -> None:
    class Refusing(NullBackend):
        def load(
            self,
            graph: Graph,
            artifact: Artifact | None,
            device: Device,
            progress: Progress,
            cancel: Cancellation,
        ) -> Session:
            raise BackendError("no")

    bench.numbers()
    bench.backend = Refusing
    with pytest.raises(EngineError) as caught:
        bench.numbers()
    assert caught.value.code is ErrorCode.BACKEND_FAILED
    assert bench.compiles == 2


def test_files_that_a_runtime_adds_later_do_no_harm(bench: Bench) -> None:
    bench.numbers()
    (artifact,) = bench.artifacts()
    (artifact / "kernels.cache").write_bytes(b"of this card")
    bench.numbers()
    assert bench.compiles == 1


def test_an_artifact_that_a_scanner_looks_into_is_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, windows_files: WindowsFiles
) -> None:
    keep_files = manifest.keep_files

    def scanned(folder: Path) -> tuple[manifest.KeptFile, ...]:
        found = keep_files(folder)
        Scanner(folder / found[0].path, 3, monkeypatch)
        return found

    monkeypatch.setattr("engine.compile.artifacts.keep_files", scanned)
    bench.numbers()
    assert len(windows_files.refused) == 3
    bench.numbers()
    assert bench.compiles == 1


def test_half_written_files_of_a_killed_process_are_removed(bench: Bench) -> None:
    bench.numbers()
    (artifact,) = bench.artifacts()
    half = artifact.with_name(f"{artifact.name}.0123abcd.part")
    artifact.rename(half)
    (half / MANIFEST).unlink()
    assert bench.artifacts() == []
    bench.numbers()
    assert bench.compiles == 2
    assert bench.left() == set()


def test_a_compile_that_fails_leaves_nothing(bench: Bench) -> None:
    bench.change(fails=("text_encoder",))
    with pytest.raises(EngineError) as caught:
        bench.numbers()
    assert caught.value.code is ErrorCode.BACKEND_FAILED
    assert "gives up" in caught.value.detail
    assert bench.artifacts() == []
    assert bench.left() == set()


def test_where_nothing_is_worth_keeping_nothing_is_kept(bench: Bench) -> None:
    bench.change(leaves=("text_encoder",))
    assert bench.numbers().shape[0] == 2
    assert bench.artifacts() == []
    assert bench.left() == set()


def test_without_a_folder_it_is_compiled_each_time_and_nothing_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = bench.folder / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    first = bench.numbers(store=ArtifactStore(None))
    np.testing.assert_array_equal(bench.numbers(store=ArtifactStore(None)), first)
    assert bench.compiles == 2
    assert list(temporary.iterdir()) == []


# --- room ---


def test_the_cap_is_kept_and_the_least_recently_used_go_first(bench: Bench) -> None:
    bench.change(carries_weights=True)
    checkpoints = [network(write_weights(bench.folder / f"{n}.safetensors", n)) for n in range(4)]
    for made in checkpoints[:3]:
        bench.numbers(made)
    ages = {path: age for age, path in enumerate(_by_checkpoint(bench, [1, 0, 2]))}
    for path, age in ages.items():
        os.utime(path / MANIFEST, (1e9 + age, 1e9 + age))
    bench.numbers(checkpoints[1])  # used: now the last to go
    largest = max(entry.bytes for entry in bench.store.listed())
    # What is expected of one that is not there yet.
    room = PLAN_BYTES + checkpoints[0].weights.elements * Precision.F32.dtype.itemsize
    store = ArtifactStore(bench.cache / "compiled", cap_bytes=2 * largest + room)
    bench.numbers(checkpoints[3], store=store)
    kept = {entry.checkpoint for entry in bench.store.listed()}
    assert kept == {"1", "2", "3"}
    bench.numbers(checkpoints[0], store=ArtifactStore(store.folder, cap_bytes=1))
    assert {entry.checkpoint for entry in bench.store.listed()} == {"0"}


def _by_checkpoint(bench: Bench, order: list[int]) -> list[Path]:
    found = {e.checkpoint: bench.cache / "compiled" / e.name for e in bench.store.listed()}
    return [found[str(number)] for number in order]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB, for root on Linux."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.getuid() != 0 or subprocess.run(command).returncode != 0:
        pytest.skip("only root may make a small disk here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("interruptible", [True, False])
def test_a_full_disk_stops_no_picture(
    bench: Bench, small_disk: Path, caplog: pytest.LogCaptureFixture, interruptible: bool
) -> None:
    bench.change(file_bytes=8 << 20, interruptible=interruptible)
    store = ArtifactStore(small_disk / "compiled")
    first = bench.numbers(store=store)
    np.testing.assert_array_equal(bench.numbers(store=store), first)
    assert store.listed() == ()
    assert [p for p in (small_disk / "compiled").iterdir() if p.suffix != ".lock"] == []
    assert "No space left on device" in caplog.text


def test_a_disk_that_is_full_of_artifacts_loses_the_oldest(bench: Bench, small_disk: Path) -> None:
    """The disk counts beside the cap."""
    store = ArtifactStore(small_disk / "compiled")
    bench.change(file_bytes=3 << 20)
    bench.numbers(store=store)
    bench.change(runtime="another driver")
    bench.numbers(store=store)
    (kept,) = store.listed()
    bench.numbers(store=store)
    assert store.listed()[0].name == kept.name
    assert bench.compiles == 2


@linux_only
def test_a_limit_on_sizes_of_files_stops_no_picture(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A quota answers like this; the artifact has room nowhere, so the error says so."""
    bench.change(file_bytes=4 << 20)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(EngineError) as caught:
            bench.numbers()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.code is ErrorCode.CACHE_NOT_WRITABLE
    assert str(bench.cache) in caught.value.message
    assert caught.value.hint
    assert bench.left() == set()
    bench.numbers()
    assert len(bench.artifacts()) == 1


def test_a_folder_that_cannot_be_stops_no_picture(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.cache.write_bytes(b"a file is in its place")
    assert bench.numbers().shape[0] == 2
    assert "cannot be kept" in caplog.text
    assert bench.store.listed() == ()
    bench.store.remove()


def test_a_folder_that_must_not_be_written_to_serves_what_is_in_it(
    bench: Bench, small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = ArtifactStore(small_disk / "compiled")
    whole = bench.numbers(store=store)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    np.testing.assert_array_equal(bench.numbers(store=store), whole)
    assert bench.compiles == 1
    assert caplog.records == []
    bench.change(runtime="another driver")
    assert bench.numbers(store=store).shape[0] == 2
    assert "Read-only file system" in caplog.text
    store.remove()
    assert len(store.listed()) == 1


# --- listing and clearing ---


def test_artifacts_are_listed_with_their_networks(bench: Bench) -> None:
    assert bench.store.listed() == ()
    bench.numbers()
    bench.change(carries_weights=True)
    bench.numbers()
    shared, own = sorted(bench.store.listed(), key=lambda entry: entry.checkpoint)
    assert (shared.checkpoint, own.checkpoint) == ("", "checkpoint")
    for entry in (shared, own):
        assert entry.kind is ArtifactKind.COMPILED_NETWORK
        assert entry.network == "text_encoder"
        assert entry.device == "computes nothing, for tests"
        folder = bench.cache / "compiled" / entry.name
        assert entry.bytes == sum(path.stat().st_size for path in folder.iterdir())
        assert entry.last_used == (folder / MANIFEST).stat().st_mtime


def test_use_counts_as_use(bench: Bench) -> None:
    bench.numbers()
    (artifact,) = bench.artifacts()
    os.utime(artifact / MANIFEST, (1e9, 1e9))
    bench.numbers()
    assert bench.store.listed()[0].last_used > 1.1e9


def test_those_named_are_cleared_and_without_a_name_all(bench: Bench) -> None:
    for runtime in ("one", "two", "three"):
        bench.change(runtime=runtime)
        bench.numbers()
    names = [entry.name for entry in bench.store.listed()]
    bench.store.remove([names[1], "nothing", "../weights", "../../checkpoint.safetensors"])
    assert [entry.name for entry in bench.store.listed()] == [names[0], names[2]]
    bench.store.remove()
    assert bench.store.listed() == ()
    assert bench.weights.exists()
    assert bench.left() == set()


@pytest.mark.parametrize("found", [False, True])
def test_an_artifact_in_use_is_removed_only_afterwards(bench: Bench, found: bool) -> None:
    session = bench.session()
    if found:
        session.close()
        session = bench.session()
    before = run(session)
    bench.store.remove()  # another store, as another process has it
    bench.store.remove([path.name for path in bench.artifacts()])
    assert len(bench.artifacts()) == 1
    bench.change(runtime="another driver")
    bench.numbers(store=ArtifactStore(bench.cache / "compiled", cap_bytes=1))
    assert len(bench.artifacts()) == 2
    np.testing.assert_array_equal(run(session), before)
    session.close()
    bench.store.remove()
    assert bench.artifacts() == []


# --- stopping ---


@pytest.mark.parametrize("interruptible", [True, False])
def test_a_stopped_compile_leaves_nothing(bench: Bench, interruptible: bool) -> None:
    bench.change(gate=str(bench.folder / "gate"), interruptible=interruptible)
    token = CancelToken()
    failures: list[EngineError] = []

    def load() -> None:
        try:
            bench.session(cancel=token)
        except EngineError as error:
            failures.append(error)

    loading = Thread(target=load)
    loading.start()
    while not bench.compiles:
        sleep(0.01)
    token.cancel()
    loading.join()
    assert [type(failure).__name__ for failure in failures] == ["Cancelled"]
    assert bench.artifacts() == []
    assert bench.left() == set()


@pytest.mark.parametrize("kept", [True, False])
def test_a_compiler_that_does_not_say_for_which_sizes_is_taken_at_the_word_asked(
    bench: Bench, kept: bool
) -> None:
    class Silent(NullBackend):
        def compile(
            self,
            graph: Graph,
            device: Device,
            profile: ShapeProfile,
            folder: Path,
            progress: Progress,
            cancel: Cancellation,
        ) -> Artifact | None:
            super().compile(graph, device, profile, folder, progress, cancel)
            return Artifact(folder)

    bench.backend = Silent
    bench.change(shapes=ShapeSupport.RANGES)
    session = bench.session(store=None if kept else ArtifactStore(None))
    for _ in range(3):
        run(session)
    session.close()
    assert bench.compiles == 1
