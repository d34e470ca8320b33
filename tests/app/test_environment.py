"""Variables of other programs reach neither the engine nor our Qt."""

import os
import sys
from pathlib import Path

import pytest

from app.engine.process import EngineState, engine_command
from app.environment import engine_environment, forget_foreign_qt
from tests.app.conftest import Supervise
from tests.app.supervised import QUICK

HOSTILE = {
    "PYTHONHOME": "/nonexistent",
    "PYTHONPATH": "/nonexistent",
    "PYTHONSTARTUP": "/nonexistent.py",
    "PYTHONINSPECT": "1",
    "PYTHONIOENCODING": "utf-16",
    "PYTHONOPTIMIZE": "2",
    "LD_PRELOAD": "/nonexistent.so",
    "LD_LIBRARY_PATH": "/nonexistent",
    "DYLD_INSERT_LIBRARIES": "/nonexistent.dylib",
    "QT_PLUGIN_PATH": "/nonexistent",
    "QT_QPA_PLATFORM_PLUGIN_PATH": "/nonexistent",
}


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("hostile")
def test_the_engine_gets_nothing_that_changes_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFELIGHT_CACHE", "/kept")
    environment = engine_environment()
    assert [name for name in HOSTILE if environment.contains(name)] == []
    assert environment.value("SAFELIGHT_CACHE") == "/kept"
    assert environment.value("PATH") == os.environ["PATH"]


@pytest.mark.usefixtures("hostile")
def test_a_library_path_can_be_given_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFELIGHT_LIBRARY_PATH", "/usr/local/gpu")
    assert engine_environment().value("LD_LIBRARY_PATH") == "/usr/local/gpu"


def test_our_qt_loads_no_plugins_of_another() -> None:
    variables = HOSTILE | {"QT_SCALE_FACTOR": "2"}
    forget_foreign_qt(variables)
    assert {name for name in variables if name.startswith("QT_")} == {"QT_SCALE_FACTOR"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has only text there")
@pytest.mark.usefixtures("hostile")
def test_the_real_engine_starts_in_a_hostile_environment(
    supervise: Supervise, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NOT_TEXT", "\udcff\udcfe")
    # What -I must not find.
    (tmp_path / "engine.py").write_text("raise SystemExit('the wrong engine')")
    (tmp_path / "msgspec.py").write_text("raise SystemExit('the wrong msgspec')")
    monkeypatch.chdir(tmp_path)
    engine = supervise(supervision=QUICK, command=engine_command(tmp_path / "packs")).start()
    assert engine.process.state is EngineState.READY
    # The loader would have complained of a library to preload.
    assert [line for line in engine.process.last_lines if "---" not in line] == []
