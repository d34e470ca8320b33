"""Every code of a failure, and every sentence of the engine, in every language of the window."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.notices.kinds import actions
from app.notices.remedies import OF_A_JOB, actions_of
from app.notices.wording import CONTEXT, worded
from app.settings.values import Language
from engine.api.sentences import Sentence, filled, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.file_paths import why_no_file
from tests.app.test_remedies import EACH
from tests.tools.catalogues import LANGUAGES, collected, read_catalogue
from tests.ui.conftest import Desk
from tests.ui.kept_language import kept_language
from ui.languages.use import use_language

CODES = ("en", "de", "pseudo")
PLACE = re.compile(r"\{(\w+)(!r)?(:[^}]*)?\}")
CATALOGUE = read_catalogue(LANGUAGES / "de.ts")
GERMAN = {source: forms for (_, source), forms in CATALOGUE.items()}


@cache
def texts_of_the_engine() -> tuple[str, ...]:
    return tuple(sorted(text for context, text in collected() if context == CONTEXT))


@pytest.fixture(params=CODES)
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """A language that the application speaks during a test."""
    with kept_language(qapp):
        use_language(qapp, Language.ENGLISH, {"SAFELIGHT_LANGUAGE": request.param})
        yield request.param


def in_language(language: str, text: str) -> bool:
    """True if a text may be one of this language, and is none of another."""
    if language == "pseudo":
        return text.startswith("⟦")
    if language == "en":
        return "⟦" not in text
    return text not in GERMAN or text in GERMAN[text]


def test_every_code_is_told_in_all_its_parts(language: str, desk: Desk) -> None:
    for code in ErrorCode:
        what = sentence("No model is chosen.")
        error = ErrorInfo(code, what, detail="KeyError")
        desk.session.notices.tell_error(error)
        (card,) = desk.window.notices.cards
        parts = (card.title.text(), card.message.text(), card.hint.text())
        buttons = [button.text() for button in card.remedies.values()]
        about_report = (card.show_report.text(), card.copy_report.text())
        assert all(parts)
        assert bool(buttons) == bool(actions(error, of_a_job=False)), code
        for text in (*parts, *buttons, *about_report):
            assert in_language(language, text), (code, text)
        card.show_report.click()
        assert code.value in card.report.toPlainText()
        desk.session.remedies.dismiss(card.notice)


def test_every_remedy_has_a_button(language: str, desk: Desk) -> None:
    what = sentence("No model is chosen.")
    for remedy in EACH:
        error = ErrorInfo(ErrorCode.BACKEND_FAILED, what, remedies=(remedy,))
        desk.session.notices.tell_error(error)
        (card,) = desk.window.notices.cards
        for action in actions_of(remedy):
            if action not in OF_A_JOB:
                words = card.remedies[action].text()
                assert words, remedy
                assert in_language(language, words), (remedy, action)
        desk.session.remedies.dismiss(card.notice)


def test_the_meaning_of_every_code_is_told(language: str, desk: Desk) -> None:
    for code in ErrorCode:
        desk.session.notices.tell_error(ErrorInfo(code, sentence("No model is chosen.")))
        (card,) = desk.window.notices.cards
        assert in_language(language, card.hint.text())
        assert len(card.hint.text()) > 10
        desk.session.remedies.dismiss(card.notice)


def test_every_sentence_is_said(language: str) -> None:
    for template in texts_of_the_engine():
        values = {
            name: 1234 if form and not quoted else f"⟨{name}⟩"
            for name, quoted, form in PLACE.findall(template)
        }
        said = worded(Sentence(template, tuple(values.items())))
        assert not PLACE.search(said), template
        assert all(value == 1234 or str(value) in said for value in values.values()), template
        is_english = worded(Sentence(template)) == filled(Sentence(template))
        is_the_same = language == "de" and template in CATALOGUE[CONTEXT, template]
        assert is_english == (language == "en" or is_the_same), template


def test_a_path_without_a_file_is_told_in_the_language(language: str, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", tmp_path / ("x" * 300), Path("null\0")):
        problem = why_no_file(path)
        assert problem is not None
        told = worded(problem)
        assert in_language(language, told)
        assert (told == str(problem)) is (language == "en")
