"""The cost of finding a compiled network in the cache, and of checking its content."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from backends.base import Artifact, Device, Precision, ShapeProfile
from benchmarks.measure import Series
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from engine.cancel import CancelToken
from engine.compile.artifacts import ArtifactStore, HeldArtifact, Wanted

_SIZES_MB = (8, 64, 1700)
_FIND_LIMIT_S = 0.05
_PIECE = os.urandom(1 << 20)


def artifacts(setting: Setting) -> Findings:
    """Measure artifacts of one file each; the largest has the size of SD 1.5's UNet in float16."""
    rows: list[tuple[Cell, ...]] = []
    found = 0.0
    setting.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        store = ArtifactStore(Path(scratch) / "compiled")
        for megabytes in _SIZES_MB:
            row, found = _measured(setting, store, megabytes)
            rows.append(row)
    table = Table(
        "Keeping an artifact and finding it again",
        ("MB", "write, s", "keep, s", "find, ms", "find after its times changed, ms"),
        tuple(rows),
        "Write: the file alone, to the disk itself. Keep: with its checksum and manifest. Files of "
        "more than 16 MB are read again only where their times changed. Medians, pages in memory.",
    )
    what = f"finding an artifact of {_SIZES_MB[-1]} MB"
    return Findings((table,), (Target(what, found, _FIND_LIMIT_S, "s"),))


def _measured(
    setting: Setting, store: ArtifactStore, megabytes: int
) -> tuple[tuple[Cell, ...], float]:
    wanted = Wanted(
        key=f"{megabytes:064}",
        sizes={},
        profile=ShapeProfile(),
        network="denoiser",
        checkpoint="",
        device=Device("none", "none", "no device"),
        precision=Precision.F16,
        runtime="none",
        expected_bytes=megabytes << 20,
    )
    wrote: list[float] = []

    def compile_(folder: Path) -> Artifact:
        wrote.append(_seconds(lambda: _write(folder / "engine.bin", megabytes)))
        return Artifact(folder)

    def find() -> None:
        held = store.find(wanted)
        assert held is not None
        held.release()

    kept = _seconds(lambda: _require(store.get(wanted, compile_, CancelToken())).release())
    rounds = setting.rounds(7)
    again = Series([_seconds(find) for _ in range(rounds)])
    assert store.folder is not None
    file = store.folder / wanted.name / "engine.bin"
    touched: list[float] = []
    for _ in range(setting.rounds(3)):
        os.utime(file)
        touched.append(_seconds(find))
    setting.report(f"finding {megabytes} MB", again.median)
    row = (str(megabytes), wrote[0], kept, 1000 * again.median, 1000 * Series(touched).median)
    return row, again.median


def _require(held: HeldArtifact | None) -> HeldArtifact:
    assert held is not None
    return held


def _write(path: Path, megabytes: int) -> None:
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(_PIECE)
        file.flush()
        os.fsync(file.fileno())


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
