"""A picture led by another one, made by hand: from the checkpoint to the picture made larger."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from tests.monkey.hand import Basket
from tests.pipeline.control_files import write_control_net
from tests.tiny_checkpoint import write_checkpoint
from tests.ui.real_window.person import RealWindow
from tests.upscalers.small import file_of

SIDE = 128
PANEL = "form.controls"
CARD = f"{PANEL}.cards[0]"
POPUP = "window.create_page.info.upscale.popup"
# All that a restart must bring back.
LEFT = (
    "state.prompt, state.steps, state.width, state.height, str(state.checkpoint), state.seed,"
    " [[one.image, one.network, type(one.preprocessor).__name__, one.weight, one.range]"
    " for one in state.controls]"
)
See = Callable[[RealWindow, str], None]


def unseen(_window: RealWindow, _name: str) -> None:
    """Keep no picture of the screen."""


def put_models(models: Path) -> None:
    """Put a checkpoint, a control network and an upscaler where people put them."""
    checkpoint = write_checkpoint(models / "tiny")
    (models / "controlnet").mkdir()
    write_control_net(models / "controlnet" / "edges canny.safetensors", checkpoint)
    (models / "upscale_models").mkdir()
    file_of(models / "upscale_models", "SPAN")


def drawing(folder: Path) -> Path:
    """A picture with edges."""
    path = folder / "drawing.png"
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    picture.paste("black", (32, 32, 96, 96))
    picture.save(path)
    return path


def see_all_of(window: RealWindow, widget: str) -> None:
    """Scroll the form to a widget."""
    window.ask(f"form.ensureWidgetVisible({widget}, 0, 60)")


def choose(window: RealWindow, box: str, words: str) -> None:
    """Open a list, search it by typing, and choose the first entry that is left."""
    see_all_of(window, box)
    window.click(box)
    window.wait_for(f"{box}.popup is not None and {box}.popup.isVisible()")
    window.write(words)
    window.key("Return")
    window.wait_for(f"not {box}.popup.isVisible()")


def choose_the_checkpoint(window: RealWindow) -> None:
    """Choose the checkpoint by its name, small and with few steps."""
    choose(window, "form.checkpoint.box", "tiny")
    window.wait_for("str(state.checkpoint).endswith('tiny')")
    window.wait_for("'controls' in state.suggestions.features.options")
    for field, value in (("steps", 3), ("width", SIDE), ("height", SIDE)):
        window.ask(f"setattr(state, {field!r}, {value})")


@contextmanager
def basket(window: RealWindow) -> Generator[Basket]:
    """Another program that files are dragged from."""
    other = Basket(window.display, at=(4, 4))
    try:
        yield other
    finally:
        other.close()


def drop_a_picture(window: RealWindow, picture: Path, look: See = unseen) -> None:
    """Drop a picture of another program on the button that adds a control layer."""
    see_all_of(window, f"{PANEL}.add")
    with basket(window) as other:
        window.drag(other.put(picture), window.place(f"{PANEL}.add"))
        # On its way the form may have scrolled; a hand that holds still is told of late.
        x, y = window.place(f"{PANEL}.add")
        for step in range(1, 10):
            window.drag_on((x + step, y))
            if window.ask("window.drops.marks.words") == "Follow this picture":
                break
            time.sleep(0.1)
        look(window, "a picture over the form")
        window.let_go()
        assert other.outcome() == "CopyAction"
        window.wait_for("len(state.controls) == 1")


def follow_its_edges(window: RealWindow, look: See = unseen) -> None:
    """Choose the network and what makes the map; see the map; drag the range."""
    window.wait_for("state.controls[0].network is not None")
    window.wait_for("session.engine.state.value == 'ready'")
    choose(window, f"{CARD}.preprocessor", "thin white")
    window.wait_for("type(state.controls[0].preprocessor).__name__ == 'CannyOptions'")
    window.wait_for(f"not {CARD}.map.image.isNull() and {CARD}.map.words == ''")
    window.wait_for(f"{CARD}.map.image.pixelColor(1, 1).lightness() == 0")
    see_all_of(window, f"{CARD}.range")
    window.drag(window.place(f"{CARD}.range.bar.end"), window.place(f"{CARD}.range.bar"))
    window.let_go()
    window.wait_for("0.35 < state.controls[0].range[1] < 0.65")
    look(window, "a layer that is followed")


def look_at_the_map(window: RealWindow, look: See = unseen) -> None:
    """Lay the map over the canvas, press Esc, which only cancels pictures, and take it off."""
    see_all_of(window, f"{CARD}.map")
    window.click(f"{CARD}.map")
    window.wait_for("session.view.map_over == 0")
    look(window, "the map over the canvas")
    window.key("Escape")
    window.click("window.canvas.corner.map")
    window.wait_for("session.view.map_over is None")


def make_it(window: RealWindow) -> str:
    """Press the keys that make a picture; return its path."""
    before = window.ask("session.view.path")
    window.key("ctrl+Return")
    window.wait_for(f"session.view.path not in (None, {before!r})")
    window.wait_for("session.progress.job is None")
    return str(window.ask("session.view.path"))


def make_it_again(window: RealWindow) -> str:
    """Keep the seed, and make the picture again although it was made before; its path."""
    window.click("window.dock.seed.lock")
    window.wait_for("state.seed_locked")
    shown = window.ask("session.view.path")
    window.key("ctrl+Return")
    again = "window.notices.cards[-1].remedies['make_again']"
    window.wait_for(f"len(window.notices.cards) > 0 and {again}.isVisible()")
    window.click(again)
    window.wait_for(f"session.view.path not in ({shown!r}, None) and session.progress.job is None")
    return str(window.ask("session.view.path"))


def make_it_larger(window: RealWindow, look: See = unseen) -> str:
    """Open "Upscale", leave it by Esc, open it again and make the picture larger; its path."""
    before = window.ask("session.view.path")
    window.click("window.create_page.info.upscale")
    window.wait_for(f"{POPUP} is not None and {POPUP}.isVisible()")
    window.key("Escape")
    window.wait_for(f"not {POPUP}.isVisible()")
    assert window.ask("window.isActiveWindow()")
    window.click("window.create_page.info.upscale")
    window.wait_for(f"{POPUP}.isVisible() and {POPUP}.start.isEnabled()")
    look(window, "a picture to be made larger")
    window.key("Return")
    window.wait_for(f"session.view.path not in (None, {before!r})")
    return str(window.ask("session.view.path"))


def same_pixels(first: str, second: str) -> bool:
    """True for two files of the same picture."""
    with Image.open(first) as first_image, Image.open(second) as second_image:
        return first != second and first_image.tobytes() == second_image.tobytes()
