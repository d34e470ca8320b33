"""macOS is asked once for its graphics processor, which takes a second or two."""

from pathlib import Path

import pytest

from backends.hardware import macos

REPORT = '{"SPDisplaysDataType": [{"sppci_model": "Apple M1"}]}'


def profiler(folder: Path, report: str) -> tuple[str, ...]:
    """Return a command that notes each of its runs and prints a report."""
    program = folder / "profiler"
    program.write_text(f"#!/bin/sh\necho run >> '{folder}/runs'\necho '{report}'\n")
    program.chmod(0o755)
    return (str(program),)


def runs(folder: Path) -> int:
    return (folder / "runs").read_text().count("run")


def test_a_whole_report_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macos, "_COMMAND", profiler(tmp_path, REPORT))
    assert {macos.read().strip() for _ in range(3)} == {REPORT}
    assert runs(tmp_path) == 1


def test_a_report_that_was_cut_off_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(macos, "_COMMAND", profiler(tmp_path, REPORT[:30]))
    macos.read()
    macos.read()
    assert runs(tmp_path) == 2
