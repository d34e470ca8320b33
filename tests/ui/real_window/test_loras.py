"""A LoRA is found by typing, adjusted by the mouse, and still there after `kill -9`."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.checkpoints.files import write_sparse
from tests.jobs.test_lora_index import KEYS
from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow

DIALOG = "window.findChildren(QtWidgets.QDialog)[0]"
ROW = "form.loras.cards[0]"
CARD = '{"baseModel": "SD 1.5", "trainedWords": ["inkwash"]}'


def write_loras(models: Path) -> None:
    """Put a few LoRAs into the usual folder, one with a card and a picture."""
    folder = models / "Lora"
    folder.mkdir(parents=True)
    for name in ("ink wash", "pixel art", "charcoal"):
        write_sparse(folder / f"{name}.safetensors", KEYS)
    (folder / "ink wash.civitai.info").write_text(CARD)
    Image.new("RGB", (128, 128), "teal").save(folder / "ink wash.preview.png")


def add_ink(window: RealWindow) -> None:
    """Open the list, type, press Enter and close the list."""
    window.wait_for("len(session.loras.loras) == 3 and not session.loras.is_listing")
    window.ask("form.ensureWidgetVisible(form.loras.add, 0, 60)")
    window.click("form.loras.add")
    window.wait_for(f"{DIALOG}.isActiveWindow()")
    window.write("INKW")
    window.wait_for(f"{DIALOG}.model.rowCount() == 1")
    window.key("Return")
    window.wait_for("len(state.loras) == 1")
    window.key("Escape")
    window.wait_for("not window.findChildren(QtWidgets.QDialog) and window.isActiveWindow()")


@pytest.fixture
def window(real_window: RealWindow) -> Iterator[RealWindow]:
    """The window of all tests, with a LoRA in its form."""
    write_loras(real_window.paths.models)
    real_window.ask("session.loras.refresh()")
    add_ink(real_window)
    yield real_window
    shutil.rmtree(real_window.paths.models / "Lora")
    real_window.ask("session.loras.refresh()")


def test_a_lora_is_adjusted_by_mouse_and_its_word_clicked_in_and_out(window: RealWindow) -> None:
    window.ask(f"form.ensureWidgetVisible({ROW}, 0, 60)")
    window.click(f"{ROW}.strength.slider")
    window.wait_for("0.6 < state.loras[0].strength < 0.9")
    before = "a red house"
    window.ask(f"setattr(state, 'prompt', {before!r})")
    window.click(f"{ROW}.words.chips[0]")
    window.wait_for(f"state.prompt == {before!r} + ', inkwash'")
    window.click(f"{ROW}.words.chips[0]")
    window.wait_for(f"state.prompt == {before!r}")
    window.click(f"{ROW}.enabled")
    window.wait_for("state.build_request().loras == ()")


def test_the_wheel_over_a_strength_scrolls_the_form(window: RealWindow) -> None:
    window.ask(f"form.ensureWidgetVisible({ROW}, 0, 60)")
    at = window.ask("form.verticalScrollBar().value()")
    window.wheel(f"{ROW}.strength.slider", 1 if at == 0 else -1)
    window.wait_for(f"form.verticalScrollBar().value() != {at}")
    assert window.ask("state.loras[0].strength") == 1.0


@pytest.mark.oracle
def test_the_list_is_there_again_after_a_kill(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    write_loras(tmp_path / "person" / "models")
    window = start_real_window()
    add_ink(window)
    window.ask("session.lora.change(0, strength=0.35)")
    kept = window.paths.state / "session.json"
    deadline = time.monotonic() + 60
    while not (kept.exists() and b"0.35" in kept.read_bytes()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    window.kill()
    again = start_real_window()
    assert again.ask("[[one.strength, one.enabled] for one in state.loras]") == [[0.35, True]]
    again.wait_for(f"{ROW}.words.chips and {ROW}.words.chips[0].text() == 'inkwash'")
