"""A picture led by another one, by hand: a picture is dropped, and its edges are followed."""

from pathlib import Path

from tests.ui.real_window import led_picture as led
from tests.ui.real_window.conftest import StartRealWindow


def test_a_dropped_picture_is_followed_by_the_only_network_that_fits(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    led.put_models(tmp_path / "person" / "models")
    window = start_real_window()
    led.choose_the_checkpoint(window)
    led.drop_a_picture(window, led.drawing(tmp_path))
    led.follow_its_edges(window)
    assert Path(led.make_it(window)).exists()
