"""A picture led by another one, the whole way by hand, with a change of mind at every step."""

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.metadata.records import read_record
from tests.ui.real_window import led_picture as led
from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow
from tests.ui.real_window.trial.conftest import see

pytestmark = pytest.mark.slow


def give_up(window: RealWindow) -> None:
    """Open lists and leave them by Esc: nothing of the layer changes."""
    before = window.ask("str(state.controls)")
    for box in (f"{led.CARD}.file", f"{led.CARD}.preprocessor"):
        led.see_all_of(window, box)
        window.click(box)
        window.wait_for(f"{box}.popup is not None and {box}.popup.isVisible()")
        window.write("no such thing")
        window.key("Escape")
        if window.ask(f"{box}.popup.isVisible()"):
            # The first Esc empties the search.
            window.key("Escape")
        window.wait_for(f"not {box}.popup.isVisible()")
    assert window.ask("str(state.controls)") == before
    assert window.ask("window.isActiveWindow()")


def test_a_led_picture_is_made_made_larger_and_made_again_after_a_restart(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    led.put_models(tmp_path / "person" / "models")
    window = start_real_window()
    led.choose_the_checkpoint(window)
    led.drop_a_picture(window, led.drawing(tmp_path), see)
    led.follow_its_edges(window, see)
    give_up(window)
    first = led.make_it(window)
    see(window, "a led picture")
    led.look_at_the_map(window, see)
    large = led.make_it_larger(window, see)
    with Image.open(large) as picture:
        assert picture.size == (2 * led.SIDE, 2 * led.SIDE)
    record = read_record(Path(large))
    assert record is not None
    assert record.request.controls[0].image == str(tmp_path / "drawing.png")
    left = window.ask(f"[{led.LEFT}]")
    window.key("Escape")
    assert window.close() == 0

    again = start_real_window()
    assert json.loads(json.dumps(again.ask(f"[{led.LEFT}]"))) == left
    again.wait_for(f"not {led.CARD}.map.image.isNull() and {led.CARD}.map.words == ''")
    again.wait_for("session.engine.state.value == 'ready'")
    see(again, "a led picture after a restart")
    assert led.same_pixels(first, led.make_it_again(again))
