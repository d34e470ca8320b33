"""The processor's cores, as Linux tells them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.hardware import cpu_cores


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
