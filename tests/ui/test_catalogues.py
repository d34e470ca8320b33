"""The catalogues of languages are complete, and the window speaks them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QDate, QLocale, Qt, QTranslator
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app.form.options import OptionGroup
from app.notices.wording import worded, worded_reason
from app.settings.values import Language
from engine.api.sentences import sentence
from tests.tools.catalogues import (
    LANGUAGES,
    collected,
    compile_catalogue,
    read_catalogue,
    write_catalogue,
)
from tests.ui.conftest import MakeDesk
from tests.ui.gallery.conftest import PROMPTS, Shown
from tests.ui.kept_language import kept_language
from tests.ui.test_languages import words
from ui.actions import ActionName
from ui.languages.use import use_language
from ui.places import Place

PLACE = re.compile(r"\{[^}]*\}|%n|&(?=\w)")
CATALOGUES = sorted(LANGUAGES.glob("*.ts"))
RENEW = (
    "run python -m tests.tools.catalogues, write what is unfinished in the .ts file, run it again"
)


def mnemonics(texts: Iterable[str]) -> list[str]:
    """Return the keys of the letters after & in texts, without those that have none."""
    return [key for text in texts if (key := QKeySequence.mnemonic(text).toString())]


def bare(text: str) -> str:
    """A button's words without the mark of its key and the sign that it asks further."""
    return text.replace("&", "").removesuffix("…").strip()


@pytest.fixture(autouse=True)
def _as_before(qapp: QApplication) -> Iterator[None]:
    with kept_language(qapp):
        yield


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_has_every_text_and_no_other(path: Path) -> None:
    assert read_catalogue(path).keys() == set(collected()), RENEW


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_translates_every_text_with_the_same_places(path: Path) -> None:
    for (context, source), forms in read_catalogue(path).items():
        for form in forms:
            assert form, f"{context}: {source!r} has no translation; {RENEW}"
            assert sorted(PLACE.findall(form)) == sorted(PLACE.findall(source)), source


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_button_that_a_sentence_names_is_called_so(path: Path) -> None:
    catalogue = read_catalogue(path)
    names: dict[str, set[str]] = {}
    for (_, source), forms in catalogue.items():
        names.setdefault(bare(source), set()).update(map(bare, forms))
    for (_, source), forms in catalogue.items():
        for named in re.findall("“([^”{}]+)”", source):
            assert bare(named) in names, f"nothing is called {named}: {source}"
            for form in forms:
                quoted = set(map(bare, re.findall("„([^“]+)“", form)))
                assert quoted & names[bare(named)], form


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_the_compiled_catalogue_is_that_of_the_texts(path: Path, tmp_path: Path) -> None:
    compile_catalogue(path, tmp_path / "compiled.qm")
    compiled = (tmp_path / "compiled.qm").read_bytes()
    assert compiled == path.with_suffix(".qm").read_bytes(), RENEW


def test_writing_a_catalogue_changes_nothing_in_it(tmp_path: Path) -> None:
    copy = tmp_path / "de.ts"
    write_catalogue(copy, read_catalogue(LANGUAGES / "de.ts"))
    assert copy.read_bytes() == (LANGUAGES / "de.ts").read_bytes()


def test_the_window_in_german_has_no_english_left(qapp: QApplication, make_desk: MakeDesk) -> None:
    use_language(qapp, Language.GERMAN, {})
    german = read_catalogue(LANGUAGES / "de.ts")
    same = {source for (_, source), forms in german.items() if source in forms}
    english = {source for _, source in german} - same
    desk = make_desk()
    desk.unfold()
    shown = {text for widget in desk.window.findChildren(QWidget) for text in words(widget)}
    shown |= {action.text() for action in desk.window.actions_by_name.all()}
    assert "Erzeugen" in shown
    assert shown & english == set()


@pytest.mark.parametrize("language", [Language.ENGLISH, Language.GERMAN])
def test_no_two_things_in_sight_have_the_same_mnemonic(
    qapp: QApplication, make_desk: MakeDesk, language: Language
) -> None:
    use_language(qapp, language, {})
    desk = make_desk()
    desk.unfold()
    menus = [action.text() for action in desk.window.menuBar().actions()]
    assert len(set(mnemonics(menus))) == len(menus)
    for place in Place:
        desk.window.places.open(place)
        shown = [widget for widget in desk.window.findChildren(QWidget) if widget.isVisible()]
        buttons = [widget.text() for widget in shown if isinstance(widget, QAbstractButton)]
        labels = [
            widget.text() for widget in shown if isinstance(widget, QLabel) and widget.buddy()
        ]
        found = mnemonics([*menus, *buttons, *labels])
        assert len(set(found)) == len(found), place


def test_the_names_of_rows_stay_as_wide_as_those_that_come_later(
    qapp: QApplication, make_desk: MakeDesk
) -> None:
    # The widest word of all is in a section that is still folded.
    use_language(qapp, Language.GERMAN, {})
    desk = make_desk()
    advanced = desk.window.form.advanced
    advanced.section.open()
    labels = [advanced.rows.steps.label, *advanced.rows.method.labels]
    before = {label.maximumWidth() for label in labels}
    desk.unfold()
    folded = advanced.rows.groups[OptionGroup.GUIDANCE].whole.labels
    assert {label.maximumWidth() for label in (*labels, *folded)} == before
    assert len(before) == 1


def test_no_button_below_the_pictures_is_cut_off(qapp: QApplication, make_desk: MakeDesk) -> None:
    use_language(qapp, Language.GERMAN, {})
    desk = make_desk()
    shown = Shown(desk, PROMPTS)
    shown.choose(PROMPTS[0])
    bar = shown.page.foot.bar
    buttons = (bar.use, bar.start)
    for width, shown_words in ((1280, ""), (1560, "Wiederverwenden"), (1280, "")):
        desk.resize(width, 720)
        desk.wait(lambda: all(button.width() >= button.sizeHint().width() for button in buttons))
        desk.wait(lambda words=shown_words: bar.use.text() == words)
        assert [button.accessibleName() for button in buttons] == [
            "Wiederverwenden",
            "Hiervon ausgehen",
        ]


def test_words_beside_sliders_are_whole_and_apart(
    qapp: QApplication, make_desk: MakeDesk, tmp_path: Path
) -> None:
    use_language(qapp, Language.GERMAN, {})
    desk = make_desk()
    desk.resize(1280, 720)
    picture = tmp_path / "start.png"
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    assert image.save(str(picture))
    desk.session.generation.start_from(str(picture), 64, 64)
    desk.window.actions_by_name[ActionName.PAINT].trigger()
    paint, strength = desk.window.canvas.paint, desk.window.form.inputs.strength
    assert paint is not None
    desk.wait(paint.bar.feather.isVisible)
    desk.wait(strength.isVisible)
    for label in (paint.bar.brush.label, paint.bar.feather.label, *strength.ends):
        assert label.width() >= label.sizeHint().width(), label.text()
    first, last = strength.ends
    assert last.geometry().left() - first.geometry().right() > 3


def test_numbers_in_sentences_are_written_as_in_german(qapp: QApplication) -> None:
    use_language(qapp, Language.GERMAN, {})
    said = sentence(
        "The {name} is {value:,}; it must be from {low:,} to {high:,}.",
        name="Seed",
        value=12345,
        low=0.5,
        high=4096,
    )
    assert worded(said) == "Seed: Der Wert ist 12.345; er muss zwischen 0,5 und 4.096 liegen."


def test_numbers_in_reasons_are_written_as_in_german(qapp: QApplication) -> None:
    use_language(qapp, Language.GERMAN, {})
    assert worded_reason("1.9x faster than CUDA here") == "hier 1,9-mal so schnell wie CUDA"
    assert worded_reason("it is off by 2.5%") == "es liegt um 2,5\N{NO-BREAK SPACE}% daneben"
    assert "580.82" in worded_reason("driver 580.82 is too old: CUDA needs 590.1 or newer")


def test_the_words_of_a_driver_are_in_quotes(qapp: QApplication) -> None:
    use_language(qapp, Language.GERMAN, {})
    assert worded_reason("device was removed") == "„device was removed“"
    assert (
        worded_reason("It failed: device was removed.") == "Es hat versagt: „device was removed“."
    )
    assert (
        worded_reason("It failed: out of memory.") == "Es hat versagt: der Speicher reicht nicht."
    )
    assert worded_reason("") == ""


def test_words_of_qt_are_german(qapp: QApplication) -> None:
    use_language(qapp, Language.GERMAN, {})
    assert qapp.translate("QPlatformTheme", "Cancel") == "Abbrechen"


def test_english_loads_no_catalogue(qapp: QApplication) -> None:
    use_language(qapp, Language.ENGLISH, {})
    assert qapp.translate("Actions", "Generate") == "Generate"
    assert qapp.findChildren(QTranslator) == []


def test_a_system_without_a_language_has_days_that_can_be_read(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QLocale, "system", QLocale.c)
    use_language(qapp, Language.SYSTEM, {})
    day = QDate(2026, 11, 29)
    assert QLocale().toString(day, QLocale.FormatType.ShortFormat) == "29/11/2026"
    assert QLocale().toString(12345) == "12,345"


def test_the_pseudo_language_marks_every_text_and_mirrors_the_window(
    qapp: QApplication, make_desk: MakeDesk
) -> None:
    use_language(qapp, Language.SYSTEM, {"SAFELIGHT_LANGUAGE": "pseudo"})
    desk = make_desk()
    assert desk.window.layoutDirection() is Qt.LayoutDirection.RightToLeft
    texts = {action.text() for action in desk.window.actions_by_name.all()}
    assert all(text.startswith("⟦") and text.endswith("⟧") for text in texts)
