"""Tests draw on no screen unless told to, and none depends on how long something takes."""

import gc
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from PySide6.QtWidgets import QApplication

from tests import ended, events, swiftshader, thinned
from tests.windows_files import WindowsFiles

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Test processes that run side by side share the cores: a runtime's threads spin while they wait for
# each other, which takes a third of the whole suite's processor time. Their pictures are the same.
if "PYTEST_XDIST_WORKER" in os.environ:
    for threads in ("ORT_INTRA_OP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
# Tests end before their garbage matters, and those about it collect it.
gc.set_threshold(20_000, 20, 20)
# No file of a test has to outlive a power cut. What is synced, tests see by their own `fsync`.
pytest.MonkeyPatch().setattr(os, "fsync", os.fstat)
settings.register_profile("safelight", deadline=None)
settings.load_profile("safelight")
swiftshader.offer()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without collecting garbage, of which there is none: a quarter of the time.

    The tests stay to the end, and would be gone through again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        ended.spare_what_stays()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module without a test of the wanted mark: four of five by `make oracle`."""
    mark = thinned.mark_of(config.option.markexpr)
    is_module = collection_path.match("test_*.py")
    return True if mark and is_module and not thinned.names(collection_path, mark) else None


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Refuse a test that has its mark from another module, as its own would not be imported."""
    for item in items:
        for mark in thinned.RINGS:
            if item.get_closest_marker(mark) and not thinned.names(item.path, mark):
                raise pytest.UsageError(
                    f"{item.path} does not name the mark of {item.name}: {mark}"
                )


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> events.Bot:
    """pytest-qt's bot, as ours."""
    return events.Bot(request)


@pytest.fixture
def windows_files(monkeypatch: pytest.MonkeyPatch) -> WindowsFiles:
    """Refuse to rename and to delete files that this process has open, as Windows does."""
    return WindowsFiles(monkeypatch)


def pytest_runtest_logfinish() -> None:
    """Leave a test nothing of the one before."""
    ended.delete_ended()
