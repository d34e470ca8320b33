"""Every page fits its screen, whatever the scale, and is drawn with the screen's own pixels."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.ui.scaled_window import screen_variables


class Case(NamedTuple):
    """A screen, and the look and the language of the window that fills it."""

    width: int
    height: int
    scale: float
    language: str = "en"
    look: str = "dark"


FAST = Case(3840, 2160, 3, "de", "light")
CASES = (
    FAST,
    Case(3840, 2160, 3),
    Case(3840, 2160, 2, "de", "light"),
    Case(3840, 2160, 1.5, "de"),
    Case(3840, 2160, 1.25),
    Case(3840, 2160, 1),
    Case(1366, 768, 1, "de"),
    Case(1366, 768, 1.25, "de", "light"),
    Case(1280, 720, 1, "de", "light"),
    Case(1280, 720, 1.5),
    Case(3840, 2160, 2, "pseudo"),
)


@pytest.mark.parametrize(
    "case",
    [case if case is FAST else pytest.param(case, marks=pytest.mark.oracle) for case in CASES],
    ids=lambda case: "-".join(map(str, case)),
)
def test_no_page_is_cut_or_blurred(tmp_path: Path, case: Case) -> None:
    variables = {
        **os.environ,
        **screen_variables(tmp_path, case.width, case.height, case.scale),
        "SAFELIGHT_LANGUAGE": case.language,
        "SAFELIGHT_THEME": case.look,
    }
    command = [sys.executable, "-m", "tests.ui.scaled_window", str(tmp_path)]
    run = subprocess.run(command, env=variables, check=True, capture_output=True, timeout=280)
    assert json.loads(run.stdout.splitlines()[-1]) == []
