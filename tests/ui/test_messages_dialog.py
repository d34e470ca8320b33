"""Messages are read, and copied, after they have left the window."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from engine.api.values import ErrorCode, ErrorInfo
from tests.ui.conftest import Desk
from ui.actions import ActionName
from ui.dialogs.messages_dialog import MessagesDialog


def opened(desk: Desk) -> MessagesDialog:
    desk.window.actions_by_name[ActionName.MESSAGES].trigger()
    dialog = desk.window.findChild(MessagesDialog)
    assert dialog is not None
    return dialog


def test_messages_that_left_are_listed_the_latest_first(desk: Desk) -> None:
    notices = desk.session.notices
    notices.tell("The seed is kept.", details=("It is <b>7</b>.",))
    notices.tell_error(ErrorInfo(ErrorCode.CHECKPOINT_TRUNCATED, "It ends early."))
    for notice in notices.notices:
        notices.dismiss(notice.number)
    dialog = opened(desk)
    text = dialog.text.toPlainText()
    assert text.index("The model's file is incomplete") < text.index("It ends early.")
    assert text.index("It ends early.") < text.index("The seed is kept.")
    assert "It is <b>7</b>." in text
    notices.tell("One more.")
    assert dialog.text.toPlainText().index("One more.") < text.index("It ends early.")
    QTest.mouseClick(dialog.copy_all, Qt.MouseButton.LeftButton)
    assert "One more." in QApplication.clipboard().text()
    dialog.close()


def test_a_message_that_is_told_again_and_again_is_listed_once(desk: Desk) -> None:
    notices = desk.session.notices
    for _ in range(3):
        notices.tell("The disk is full.")
    assert [told.message for told in notices.told] == ["The disk is full."]


def test_a_session_without_messages_says_so(desk: Desk) -> None:
    desk.session.notices.told.clear()
    dialog = opened(desk)
    assert dialog.text.toPlainText() == ""
    assert not dialog.copy_all.isEnabled()
    dialog.close()
