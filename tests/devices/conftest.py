"""Fixtures of the trial tests: the network's weights and the processor's result, made once."""

import sys
from pathlib import Path

import pytest

from backends.registry import BackendReference, find
from engine.cancel import CancelToken
from engine.devices import trial_network
from engine.devices.trials import TrialLimits, Trials
from engine.devices.verdicts import BackendReport

ROOT = Path(__file__).parents[2]
# Not isolated, so that the child process finds the backends in the tests.
COMMAND = (sys.executable, "-m", "engine.devices.trial_process")


@pytest.fixture(scope="session")
def processor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BackendReport]:
    """Return the folder that trials share after the processor's trial, and its report."""
    folder = tmp_path_factory.mktemp("trials")
    trial_network.network(folder)
    reference = find("cpu")
    assert reference is not None
    trials = Trials(TrialLimits(silence_s=240))
    return folder, trials.run(reference, "now", folder, CancelToken())


@pytest.fixture
def shared(processor: tuple[Path, BackendReport], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return that folder, with the tests importable in child processes."""
    folder, _ = processor
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SAFELIGHT_TEST_EXPECTED", str(folder / "expected.npy"))
    return folder


def misbehaving(type_name: str, **options: bool) -> BackendReference:
    """Refer to a backend of `tests.devices.misbehaving`."""
    return BackendReference("bad", "tests.devices.misbehaving", type_name, **options)
