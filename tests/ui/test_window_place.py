"""The window stays within the screens that are there."""

from PySide6.QtGui import QGuiApplication

from tests.ui.conftest import Desk


def test_a_window_whose_screen_is_unplugged_comes_to_one_that_is_there(desk: Desk) -> None:
    application = QGuiApplication.instance()
    assert isinstance(application, QGuiApplication)
    screen = application.primaryScreen()
    desk.wait(lambda: not desk.window._framed.isActive())  # pyright: ignore[reportPrivateUsage]
    desk.window.move(4000, 3000)
    desk.wait(lambda: desk.window.x() == 4000)
    # The display of tests has one screen, which cannot be removed.
    application.screenRemoved.emit(screen)
    # That screen is smaller than the window.
    desk.wait(lambda: screen.availableGeometry().contains(desk.window.geometry().topLeft()))


def test_a_window_that_filled_the_screen_is_kept_with_the_place_it_had(desk: Desk) -> None:
    desk.resize(810, 460)
    before = desk.window.geometry()
    desk.window.showFullScreen()
    desk.wait(lambda: desk.window.size() != before.size())
    kept = desk.session.memory.place
    assert kept is not None
    assert (kept.x, kept.y, kept.width, kept.height) == before.getRect()
    assert not kept.maximized
