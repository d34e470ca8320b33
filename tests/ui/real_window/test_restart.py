"""Everything that was in the window is there again, after it was closed and after `kill -9`."""

import signal
import time
from pathlib import Path

import pytest
from PIL import Image

from tests.thinned import thinned
from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow

LEFT = (
    "state.prompt, state.negative_prompt, state.steps, state.width, state.height, state.count,"
    " str(state.checkpoint), [[one.role, one.path] for one in state.inputs], state.strength,"
    " state.effective.sampler, state.seed"
)


def fill(window: RealWindow, folder: Path) -> None:
    """Type and choose, as a person does."""
    photo = folder / "photo.png"
    Image.new("RGB", (256, 320), "teal").save(photo)
    mix = folder / "my mix.safetensors"
    mix.touch()
    window.click("form.prompt")
    window.key("ctrl+a")
    window.write("a boat in the fog")
    window.ask(f"session.open_file(__import__('pathlib').Path({str(mix)!r}))")
    window.ask(f"form.inputs.start_from({str(photo)!r})")
    window.wait_for("len(state.inputs) == 1")
    window.ask("setattr(state, 'strength', 0.4)")
    window.ask("setattr(state, 'count', 3)")
    window.click("form.negative")
    window.write("people")
    window.wait_for("state.negative_prompt == 'people'")


@pytest.mark.parametrize("end", thinned(["closed", "killed"], ["killed"]))
def test_the_form_is_restored_at_the_next_start(
    start_real_window: StartRealWindow, tmp_path: Path, end: str
) -> None:
    window = start_real_window()
    fill(window, tmp_path)
    left = window.ask(f"[{LEFT}]")
    assert left[:2] == ["a boat in the fog", "people"]
    if end == "closed":
        assert window.close() == 0
    else:
        # What is typed is written down within about a second.
        kept = window.paths.state / "session.json"
        deadline = time.monotonic() + 60
        while not (kept.exists() and b'"people"' in kept.read_bytes()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert window.kill() == -signal.SIGKILL
    again = start_real_window()
    assert again.ask(f"[{LEFT}]") == left
    assert again.ask("form.prompt.toPlainText()") == "a boat in the fog"
    assert again.ask("form.checkpoint.box.currentText()") == "my mix"
    assert again.ask("form.inputs.name.text()") == "photo.png"
