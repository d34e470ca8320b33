"""Tests draw on no screen unless told to, and none depends on how long something takes."""

import os

from hypothesis import settings

from tests import ended, swiftshader

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Test processes that run side by side share the cores: a runtime's threads spin while they wait for
# each other, which takes a third of the whole suite's processor time. Their pictures are the same.
if "PYTEST_XDIST_WORKER" in os.environ:
    for threads in ("ORT_INTRA_OP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
settings.register_profile("safelight", deadline=None)
settings.load_profile("safelight")
swiftshader.offer()


def pytest_collection_finish() -> None:
    """Spare the collected tests, which stay to the end: half the collector's time went to them."""
    ended.spare_what_stays()


def pytest_runtest_logfinish() -> None:
    """Leave a test nothing of the one before."""
    ended.delete_ended()
