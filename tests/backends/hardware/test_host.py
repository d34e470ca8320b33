"""The processor's cores and their caches, as Linux tells them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.hardware import core_cache_bytes, cpu_cores, host, host_memory


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
    # Systems on a chip often tell of a cache, but not its size.
    (tmp_path / "cpu0/cache/index2/size").unlink()
    assert core_cache_bytes(tmp_path) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="containers are Linux's")
def test_files_that_a_container_has_read_leave_its_memory_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a model that was read once would have no room in the next job."""
    monkeypatch.setattr(host, "_CGROUP", tmp_path)

    def meminfo(_key: str) -> int:
        return 64 << 20

    monkeypatch.setattr(host, "_meminfo", meminfo)
    for name, text in (
        ("memory.max", "8000000"),
        ("memory.current", "7000000"),
        ("memory.stat", "anon 1000000\nfile 6000000\ninactive_file 4000000\nactive_file 1500000"),
    ):
        (tmp_path / name).write_text(f"{text}\n")
    memory = host_memory()
    assert (memory.total, memory.free) == (8_000_000, 6_500_000)
    (tmp_path / "memory.stat").unlink()
    assert host_memory().free == 1_000_000
