"""The time to recognise an unchanged checkpoint, and the slowdown of other work by its hash."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from backends.base import DType
from benchmarks.child import Child
from benchmarks.measure import Series, interleave
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import DENOISER
from engine.checkpoints.full_hash import hash_file
from engine.checkpoints.known_files import KnownFiles
from engine.families.identify import identify
from tests.checkpoints.files import write_sparse
from tests.families import listings

_LOOKUP_LIMIT_S = 0.05
_DISTURBANCE_LIMIT = 1.05
_COLUMNS = (
    "",
    "first time, ms",
    "unchanged, ms",
    "of which looking it up, ms",
    "unchanged, warm, ms",
    "whole hash, s",
    "GB/s",
)


def identify_files(setting: Setting) -> Findings:
    """Measure the float32 checkpoint, and two sparse files.

    One sparse file is as large as SD 1.5's with its EMA weights, the other is SDXL's in float16.
    """
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        whole = listings.original()
        large = write_sparse(
            Path(scratch) / "large.safetensors", whole | listings.leftovers(whole), DType.F32
        )
        sdxl = write_sparse(Path(scratch) / "sdxl.safetensors", listings.sdxl(), DType.F16)
        rows: list[tuple[Cell, ...]] = []
        slowest = identified = 0.0
        for path in (setting.files.f32, large, sdxl):
            row, lookup, identified = _lookups(setting, path, Path(scratch) / "known")
            rows.append(row)
            slowest = max(slowest, lookup)
        disturbance = _disturbance(setting, large)
    lookups = Table(
        "Finding a checkpoint",
        _COLUMNS,
        tuple(rows),
        "Until its family, parts and weights' places are known, with the digest that names its "
        "weights and its SHA-256. The file's pages are out of the cache but for the last time. "
        "Medians. The hash is of pages in the cache.",
    )
    told = Table(
        "A denoiser step beside the hash of another checkpoint",
        ("", "median s", "least s", "most s"),
        tuple((name, series.median, *series.spread) for name, series in disturbance.items()),
        "Turn by turn; beside: a process hashes the whole time.",
    )
    alone, beside = disturbance.values()
    targets = (
        Target("looking up an unchanged checkpoint of 7.7 GB", slowest, _LOOKUP_LIMIT_S, "s"),
        Target("identifying an unchanged SDXL of 6.9 GB", identified, _LOOKUP_LIMIT_S, "s"),
        Target("step beside the hash / alone", beside.ratio_to(alone), _DISTURBANCE_LIMIT, ""),
    )
    return Findings((lookups, told), targets)


def _lookups(setting: Setting, path: Path, folder: Path) -> tuple[tuple[Cell, ...], float, float]:
    """Return a table row, and median seconds of looking up and identifying an unchanged file."""
    rounds = setting.rounds(7)
    # A clock far ahead: the times of a file just written would not be trusted yet.
    known = KnownFiles(folder, lambda: 1 << 62)

    def cold(work: Callable[[], object]) -> float:
        _forget_pages(path)
        return _seconds(work)

    def look_up() -> None:
        state = known.read_index(path).state
        assert state is not None
        assert known.sha256(state) == found.whole

    first = Series([cold(lambda: identify(path)) for _ in range(rounds)])
    hashing = _seconds(lambda: hash_file(path, _tell_nobody))
    found = hash_file(path, _tell_nobody)
    index = known.read_index(path)
    assert index.state is not None
    known.note_sha256(index.state, found.whole)
    again = Series([cold(lambda: identify(path, known.read_index)) for _ in range(rounds)])
    lookup = Series([cold(look_up) for _ in range(rounds)])
    warm = Series([_seconds(lambda: identify(path, known.read_index)) for _ in range(rounds)])
    size = path.stat().st_size
    setting.report(f"{path.name}, unchanged", again.median)
    row = (
        f"{path.stem}, {size / 1e9:.1f} GB",
        *(round(1000 * series.median, 1) for series in (first, again, lookup, warm)),
        hashing,
        size / 1e9 / hashing,
    )
    return row, lookup.median, again.median


def _disturbance(setting: Setting, path: Path) -> dict[str, Series]:
    """Return the seconds of denoiser steps alone, and of steps while another process hashes."""
    unet = str(setting.files.unet_file)
    options = {"checkpoint": unet, "backend": "intel_openvino", "precision": "bf16"}
    with Child("safelight", **options) as child:

        def step() -> float:
            return child.seconds(DENOISER)

        def beside() -> float:
            command = [sys.executable, "-m", "engine.checkpoints.full_hash", str(path)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert process.stdout is not None
            process.stdout.readline()  # it is under way
            try:
                return step()
            finally:
                process.kill()
                process.communicate()

        step()
        return interleave(
            {"alone": step, "beside": beside}, setting.rounds(5), report=setting.report
        )


def _forget_pages(path: Path) -> None:
    """Drop a file from the page cache; mapped pages stay."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _tell_nobody(_done: int) -> None:
    """Ignore progress: only the whole time is measured."""
