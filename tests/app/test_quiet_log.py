"""A command whose cache cannot be written says so once, in a sentence, and goes on."""

import argparse
from pathlib import Path

import pytest

from app.cli import run, settings_command
from app.paths import find_paths
from engine.devices.verdicts import BackendReport, VerdictStore


def keep_reports(_options: argparse.Namespace) -> int:
    """Do as a command that finds out about devices, which takes long."""
    store = VerdictStore(find_paths().cache / "verdicts.json", "this machine")
    for backend in ("one", "two"):
        store.keep(BackendReport(backend=backend, fingerprint="this machine", devices=()))
    return 0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the cache, which is not made, and a command that keeps something there."""
    folder = tmp_path / "file" / "cache"
    monkeypatch.setenv("SAFELIGHT_CACHE", str(folder))
    monkeypatch.setattr(settings_command, "run", keep_reports)
    return folder


def test_a_cache_that_cannot_be_written_is_told_in_one_sentence(
    cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Nothing can be put below a file, whoever one is.
    cache.parent.write_bytes(b"")
    assert run(["settings"]) == 0
    assert capfd.readouterr().err == (
        f"safelight: The cache folder {cache} cannot be written (Not a directory): what was "
        "prepared is not kept, and every start takes longer. Choose another folder with "
        "SAFELIGHT_CACHE.\n"
    )


def test_for_debugging_the_lines_are_shown(
    cache: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.write_bytes(b"")
    monkeypatch.setenv("SAFELIGHT_DEBUG", "1")
    assert run(["settings"]) == 0
    assert capfd.readouterr().err.count("what was found out about devices is not kept") == 2


@pytest.mark.usefixtures("cache")
def test_a_command_that_can_write_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["settings"]) == 0
    assert capfd.readouterr().err == ""
