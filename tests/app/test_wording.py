"""Sentences of the engine are shown in the window's language."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from app.notices.notices import NoticeState
from app.notices.wording import worded
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo

TEXTS = {"{n:,} of {part:.1f}": "{part:.1f} mit {n:,}", "Room: {room}.": "Platz: {room}."}


class German(QTranslator):
    """Translates sentences of the engine."""

    def isEmpty(self) -> bool:  # noqa: N802 (Qt's name)
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        return TEXTS.get(text, "") if context == "engine" else ""


@pytest.fixture(autouse=True)
def _german(qapp: QCoreApplication) -> Iterator[None]:
    translator = German()
    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    assert qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)
    QLocale.setDefault(before)


def test_sentences_and_those_in_their_places_are_translated_with_the_languages_numbers() -> None:
    inner = sentence("{n:,} of {part:.1f}", n=12345, part=2.5)
    assert worded(sentence("Room: {room}.", room=inner)) == "Platz: 2,5 mit 12.345."


def test_a_text_of_an_earlier_version_is_shown_as_it_is() -> None:
    assert worded("Room: {room}.") == "Room: {room}."


def test_a_notice_of_an_error_is_in_the_windows_language() -> None:
    notices = NoticeState()
    text = sentence("Room: {room}.", room="E")
    notices.tell_error(ErrorInfo(ErrorCode.DISK_FULL, text, text))
    assert (notices.notices[0].message, notices.notices[0].hint) == ("Platz: E.", "Platz: E.")


@pytest.mark.parametrize("number", [2**64 - 1, -(2**70), 10**30])
def test_a_number_beyond_the_toolkits_is_shown_whole(number: int) -> None:
    text = worded(sentence("{n:,} of {part:.1f}", n=number, part=2.5))
    assert f"{number:,}" in text
