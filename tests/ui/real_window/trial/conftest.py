"""The window of a trial, and a picture of the screen at the end of each step."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.paths import starter_checkpoint
from tests.ui.real_window.person import ROOT, RealWindow

SEEN = ROOT / "build" / "trial"
_BEGIN = (
    "[dialog.close() for dialog in [application.activePopupWidget()] if dialog]",
    "window.actions_by_name['create'].trigger()",
    "setattr(session.view, 'painting', False)",
    "session.jobs_in_queue.pause(paused=False)",
    "state.clear_choices()",
    "setattr(state, 'count', 1)",
)


def see(window: RealWindow, name: str) -> None:
    """Keep a picture of the screen as evidence."""
    window.see(SEEN / f"{re.sub(r'[^a-z0-9]+', ' ', name.lower()).strip()}.png")


def copy_of_the_starter(models: Path, name: str = "my mix") -> Path:
    """Put a checkpoint that works into a folder of checkpoints."""
    return Path(shutil.copytree(starter_checkpoint(), models / name, dirs_exist_ok=True))


@pytest.fixture
def person(real_window: RealWindow, request: pytest.FixtureRequest) -> Iterator[RealWindow]:
    """A person before the window in Create, with an empty prompt in the focus."""
    for expression in _BEGIN:
        real_window.ask(expression)
    real_window.click("form.prompt")
    real_window.wait_for("window.isActiveWindow() and form.prompt.hasFocus()")
    yield real_window
    see(real_window, request.node.name.removeprefix("test_"))


def generate(window: RealWindow, prompt: str) -> str:
    """Type a prompt and make a picture; return its path."""
    before = window.ask("session.view.path")
    window.key("ctrl+e")
    window.wait_for("form.prompt.hasFocus()")
    window.key("ctrl+a", "Delete")
    window.write(prompt)
    window.wait_for(f"state.prompt == {prompt!r}")
    window.key("ctrl+Return")
    window.wait_for(f"session.view.path not in (None, {before!r})")
    window.wait_for("session.progress.job is None")
    return str(window.ask("session.view.path"))
