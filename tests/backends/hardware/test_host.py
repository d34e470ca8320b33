"""The processor's cores and their caches, as Linux tells them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.hardware import core_cache_bytes, cpu_cores


def usable(*numbers: int) -> Callable[[int], set[int]]:
    return lambda _process: set(numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is Linux's")
def test_threads_of_one_core_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, threads in enumerate(("0,2", "1,3", "0,2", "1,3")):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "core_cpus_list").write_text(threads)
    monkeypatch.setattr(os, "sched_getaffinity", usable(0, 1, 2, 3))
    assert cpu_cores(tmp_path) == 2
    monkeypatch.setattr(os, "sched_getaffinity", usable(0, 2))
    assert cpu_cores(tmp_path) == 1
    assert cpu_cores(tmp_path / "untold") == 2


def test_cores_share_the_second_cache(tmp_path: Path) -> None:
    assert core_cache_bytes(tmp_path) == 0
    for number, threads in enumerate(("0,2", "1,3", "0,2", "1,3")):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "core_cpus_list").write_text(threads)
    for index, level, size in ((0, 1, "48K"), (2, 2, "1024K"), (3, 3, "32768K")):
        cache = tmp_path / "cpu0" / "cache" / f"index{index}"
        cache.mkdir(parents=True)
        for name, text in (("level", f"{level}"), ("size", size), ("shared_cpu_list", "0,2")):
            (cache / name).write_text(f"{text}\n")
    # Both threads are of one core.
    assert core_cache_bytes(tmp_path) == 1 << 20
    (tmp_path / "cpu0/cache/index2/shared_cpu_list").write_text("0-3\n")
    assert core_cache_bytes(tmp_path) == 1 << 19
