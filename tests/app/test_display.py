"""No window where there is none to be had: a sentence, not an abort."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.display import import_problem, prepare_display
from tests.app.session_bus import owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has choices here")


def test_without_a_display_it_says_so() -> None:
    problem = prepare_display({})
    assert problem is not None
    assert "no display" in problem.message
    assert "safelight generate" in problem.hint


def test_a_display_that_does_not_answer_is_told_from_none() -> None:
    problem = prepare_display({"DISPLAY": ":4077", "QT_QPA_PLATFORM": "xcb"})
    assert problem is not None
    # Where the libraries for X11 are missing that is said instead.
    assert "does not answer" in problem.message or "lacks lib" in problem.message


def test_a_platform_that_is_not_there_is_named() -> None:
    problem = prepare_display({"QT_QPA_PLATFORM": "nonsense:dpi=3"})
    assert problem is not None
    assert "nonsense" in problem.message
    assert "offscreen" in problem.hint


def test_a_platform_that_works_is_kept() -> None:
    variables = {"QT_QPA_PLATFORM": "nonsense;offscreen"}
    assert prepare_display(variables) is None
    assert variables["QT_QPA_PLATFORM"] == "nonsense;offscreen"


@pytest.mark.parametrize(
    ("variables", "theme"),
    [
        ({"DISPLAY": ":1"}, "xdgdesktopportal"),
        ({"WAYLAND_DISPLAY": "w"}, "xdgdesktopportal"),
        ({"QT_QPA_PLATFORM": "offscreen"}, None),
        ({"DISPLAY": ":1", "QT_QPA_PLATFORMTHEME": "gtk3"}, "gtk3"),
        ({"DISPLAY": ":1", "QT_QPA_PLATFORMTHEME": "qt6ct"}, "xdgdesktopportal"),
    ],
    ids=["X11", "Wayland", "no desktop", "theme of ours", "theme of another Qt"],
)
def test_portals_that_run_are_asked(
    variables: dict[str, str], theme: str | None, bus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_problem(*_: object) -> None:
        return None

    monkeypatch.setattr("app.display._platform_problem", no_problem)
    given = {**variables, "DBUS_SESSION_BUS_ADDRESS": bus}
    assert prepare_display(given) is None
    # Nobody has their name yet.
    assert given.get("QT_QPA_PLATFORMTHEME") in (None, "gtk3")
    with owner(bus, "org.freedesktop.portal.Desktop"):
        assert prepare_display(given) is None
    assert given.get("QT_QPA_PLATFORMTHEME") == theme


def test_a_missing_library_is_named_with_what_to_install() -> None:
    error = ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    problem = import_problem(error)
    assert "libEGL.so.1" in problem.message
    assert "libegl1" in problem.hint


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"DISPLAY": ":4077"},
        {"WAYLAND_DISPLAY": "wayland-77"},
        {"QT_QPA_PLATFORM": "nonsense"},
        {"QT_QPA_PLATFORM": "xcb"},
    ],
    ids=["none", "x11", "wayland", "nonsense", "forced"],
)
def test_the_command_says_one_line_and_exits_with_1(variables: dict[str, str]) -> None:
    graphical = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in graphical}
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("Safelight's window cannot be opened: ")
