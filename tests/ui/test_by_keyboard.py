"""The whole job without a mouse: keys lead to every control, and screen readers hear of it."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QListWidget, QWidget

from app.queue.jobs import JobState
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.gallery.conftest import PROMPTS, Shown, write_picture
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.widgets.tick_box import TickBox

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
# More than the window has controls.
_MOST_TABS = 400


class Keyboard:
    """Keys that go where the focus is."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def focused(self) -> QWidget:
        """The widget with the focus."""
        widget = QApplication.focusWidget()
        assert widget is not None
        return widget

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier | None = None) -> None:
        """Press a key."""
        QTest.keyClick(self.focused, key, modifiers or Qt.KeyboardModifier.NoModifier)

    def write(self, text: str) -> None:
        """Type a text."""
        QTest.keyClicks(self.focused, text)

    def tab_to(self, wanted: Callable[[QWidget], bool]) -> QWidget:
        """Press Tab until a wanted widget has the focus."""
        for _ in range(_MOST_TABS):
            if wanted(self.focused):
                return self.focused
            self.press(Qt.Key.Key_Tab)
        raise AssertionError("Tab does not lead there")

    def circle(self, key: Qt.Key) -> list[QWidget]:
        """Press Tab or Backtab until the focus is where it began; the widgets on the way."""
        met = [self.focused]
        for _ in range(_MOST_TABS):
            self.press(key, SHIFT if key is Qt.Key.Key_Backtab else None)
            if self.focused is met[0]:
                return met
            assert self.focused not in met, f"the focus goes round behind {self.focused}"
            met.append(self.focused)
        raise AssertionError("the focus never comes back")


@pytest.fixture
def keys(desk: Desk) -> Keyboard:
    return Keyboard(desk)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []

    def note(event: QAccessibleEvent) -> None:
        heard.append(getattr(event, "message", str)())

    monkeypatch.setattr(QAccessible, "updateAccessibility", note)
    return heard


def test_a_picture_is_made_by_keys(make_desk: MakeDesk, said: list[str]) -> None:
    desk = make_desk()
    desk.start()
    keys = Keyboard(desk)
    keys.press(Qt.Key.Key_A, CTRL)
    keys.write("a blue boat")
    keys.press(Qt.Key.Key_Return, CTRL)
    (job,) = desk.wait_for_jobs(1)
    assert (job.state, job.error) == (JobState.DONE, None)
    assert generation_of(job).prompt == "a blue boat"
    assert "The picture is finished." in said


def test_the_end_of_each_picture_of_a_batch_is_said(make_desk: MakeDesk, said: list[str]) -> None:
    desk = make_desk()
    desk.start()
    desk.session.generation.count = 2
    Keyboard(desk).press(Qt.Key.Key_Return, CTRL)
    desk.wait_for_jobs(2)
    finished = [sentence for sentence in said if "finished" in sentence]
    assert finished == ["Picture 1 of 2 is finished.", "Picture 2 of 2 is finished."]


def test_a_cancelled_picture_is_said_to_be(make_desk: MakeDesk, said: list[str]) -> None:
    desk = make_desk(Plan(steps=100_000, step_seconds=0.01))
    desk.start()
    keys = Keyboard(desk)
    keys.press(Qt.Key.Key_Return, CTRL)
    desk.wait(desk.window.dock.cancel.isEnabled)
    keys.press(Qt.Key.Key_Escape)
    desk.wait_for_jobs(1)
    assert "The picture was cancelled." in said


@pytest.mark.parametrize("place", list(Place))
def test_tab_goes_round_in_every_place(desk: Desk, keys: Keyboard, place: Place) -> None:
    desk.paths.output.mkdir()
    write_picture(desk.paths.output / "0.png", PROMPTS[0])
    desk.session.start()
    QTest.keyClick(desk.window, Qt.Key.Key_1 + list(Place).index(place), CTRL)
    page = desk.window.places.page
    if isinstance(page, SettingsPage):
        page.complete()
    desk.wait(lambda: page.isAncestorOf(keys.focused))
    forward = keys.circle(Qt.Key.Key_Tab)
    reachable = _reachable(desk.window)
    missing = [_words(widget) for widget in reachable if widget not in forward]
    assert missing == [], ", ".join(missing)
    assert keys.circle(Qt.Key.Key_Backtab) == [forward[0], *reversed(forward[1:])]


def _reachable(window: QWidget) -> list[QWidget]:
    """Every visible widget that Tab is to lead to, and of buttons that exclude others the one."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not _is_reached_by_arrows(widget)
    ]


def _words(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.accessibleName() or getattr(widget, 'text', str)()}"


def _is_reached_by_arrows(widget: QWidget) -> bool:
    if not isinstance(widget, QAbstractButton) or widget.isChecked():
        return False
    group = widget.group()
    # A button may be in no group.
    return bool(group) and group.exclusive() and group.checkedButton() is not None


def test_enter_presses_the_button_with_the_focus(desk: Desk, keys: Keyboard) -> None:
    (more,) = (
        button
        for button in desk.window.dock.count.findChildren(QAbstractButton)
        if button.accessibleName() == "Pictures: one more"
    )
    more.setFocus()
    keys.press(Qt.Key.Key_Return)
    keys.press(Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert desk.session.generation.count == 3
    keys.press(Qt.Key.Key_Return, SHIFT)
    assert desk.session.generation.count == 3
    desk.window.form.prompt.setFocus()
    QTest.keyClick(more, Qt.Key.Key_Return)
    assert desk.session.generation.count == 3, "a button without the focus is filtered"


def test_pictures_are_judged_and_compared_by_keys(
    desk: Desk, keys: Keyboard, said: list[str]
) -> None:
    shown = Shown(desk, PROMPTS)
    page = shown.page
    keys.press(Qt.Key.Key_1, CTRL)
    keys.press(Qt.Key.Key_2, CTRL)
    assert keys.focused is page.browser.grid
    keys.press(Qt.Key.Key_Home)
    keys.press(Qt.Key.Key_Right)
    keys.press(Qt.Key.Key_4)
    keys.press(Qt.Key.Key_P)
    (row,) = shown.session.gallery_index.rows(page.meant())
    assert (row.prompt, row.rating, row.favourite) == (PROMPTS[-2], 4, True)
    assert said[-2:] == ["4 stars", "Favourite"]
    keys.press(Qt.Key.Key_Right, SHIFT)
    keys.press(Qt.Key.Key_C)
    assert page.comparison.isVisible()
    keys.press(Qt.Key.Key_Escape)
    assert page.browser.isVisible()
    keys.press(Qt.Key.Key_Return)
    assert page.viewer.isVisible()
    keys.press(Qt.Key.Key_Escape)
    assert keys.focused is page.browser.grid


def test_a_setting_is_found_and_changed_by_keys(
    desk: Desk, keys: Keyboard, said: list[str]
) -> None:
    keys.press(Qt.Key.Key_4, CTRL)
    keys.write("previews")
    desk.wait(lambda: any(sentence.startswith("Previews 1 setting found.") for sentence in said))
    assert not any(sentence.startswith("Colours") for sentence in said)
    keys.press(Qt.Key.Key_Down)
    assert isinstance(keys.focused, TickBox)
    keys.press(Qt.Key.Key_Space)
    assert not desk.session.settings.now.previews
    assert keys.focused.accessibleDescription()


def test_sections_of_the_settings_are_chosen_by_arrows(desk: Desk, keys: Keyboard) -> None:
    keys.press(Qt.Key.Key_4, CTRL)
    keys.tab_to(lambda widget: isinstance(widget, QListWidget))
    keys.press(Qt.Key.Key_Down)
    (page,) = desk.window.findChildren(SettingsPage)
    assert page.navigation.currentRow() == 1


def test_the_queue_opens_takes_the_focus_and_gives_it_back(
    make_desk: MakeDesk, said: list[str]
) -> None:
    desk = make_desk(Plan(steps=100_000, step_seconds=0.01))
    desk.start()
    keys = Keyboard(desk)
    for _ in range(2):
        keys.press(Qt.Key.Key_Return, CTRL)
    desk.wait(lambda: desk.session.jobs.waiting == 1)
    keys.press(Qt.Key.Key_Q, CTRL | SHIFT)
    queue = desk.window.queue
    desk.wait(lambda: queue.isAncestorOf(keys.focused))
    keys.press(Qt.Key.Key_End)
    keys.press(Qt.Key.Key_Delete)
    desk.wait(lambda: desk.session.jobs.waiting == 0)
    keys.press(Qt.Key.Key_Q, CTRL | SHIFT)
    assert not queue.isVisible()
    assert keys.focused.isVisible()
