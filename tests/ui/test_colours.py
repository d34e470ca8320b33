"""Both sets of colours can be read: text at 4.5 to 1, signs and focus at 3 to 1."""

import re
from importlib import resources

import msgspec
import pytest
from PySide6.QtGui import QColor, QPalette

from ui.theme.colours import CONTRAST, DARK, LIGHT, ROLES, Colours, contrast, palette

LOOKS = pytest.mark.parametrize(
    "colours", [DARK, LIGHT, CONTRAST], ids=["dark", "light", "contrast"]
)
BACKGROUNDS = ("canvas", "window", "surface", "hover")


@LOOKS
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("text", ["text", "muted"])
def test_text_can_be_read_everywhere(colours: Colours, text: str, background: str) -> None:
    assert contrast(getattr(colours, text), getattr(colours, background)) >= 4.5


@LOOKS
@pytest.mark.parametrize(
    ("text", "background"),
    [
        ("on_accent", "accent"),
        ("on_accent", "accent_hover"),
        ("accent", "window"),
        ("error", "window"),
        ("error", "error_surface"),
        ("text", "error_surface"),
        ("muted", "error_surface"),
        ("text", "border"),
    ],
)
def test_text_in_colour_can_be_read(colours: Colours, text: str, background: str) -> None:
    assert contrast(getattr(colours, text), getattr(colours, background)) >= 4.5


@LOOKS
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_focus_and_signs_can_be_seen(colours: Colours, background: str) -> None:
    for sign in ("accent", "muted", "disabled"):
        assert contrast(getattr(colours, sign), getattr(colours, background)) >= 3


@LOOKS
def test_qt_gets_pairs_that_can_be_read(colours: Colours) -> None:
    made, role = palette(colours), QPalette.ColorRole
    for text, background in (
        (role.WindowText, role.Window),
        (role.Text, role.Base),
        (role.Text, role.AlternateBase),
        (role.ButtonText, role.Button),
        (role.PlaceholderText, role.Base),
        (role.ToolTipText, role.ToolTipBase),
        (role.HighlightedText, role.Highlight),
        (role.Link, role.Window),
    ):
        pair = made.color(text).name(), made.color(background).name()
        assert contrast(*pair) >= 4.5, (text, background)


@LOOKS
def test_the_palette_has_every_colour_in_a_role_of_its_own(colours: Colours) -> None:
    made = palette(colours)
    found = {name: made.color(role).name() for name, role in ROLES.items()}
    assert found == msgspec.structs.asdict(colours)
    assert len(set(ROLES.values())) == len(ROLES)


def test_contrast_is_what_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#ffffff") == pytest.approx(1)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_colour_is_one() -> None:
    for colours in (DARK, LIGHT, CONTRAST):
        for field in msgspec.structs.fields(colours):
            value = getattr(colours, field.name)
            assert len(value) == 7
            assert int(value[1:], 16) >= 0


# --- outlines, in every state that the stylesheet gives them ---

_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CONTROL = re.compile(
    r"(QPlainTextEdit|QLineEdit|QSpinBox|QDoubleSpinBox|QComboBox|QPushButton|QToolButton)"
    r"((?:\[[^]]*\])?)((?::[a-z-]+)*)"
)
Outline = tuple[str, str, str]


def outlines() -> list[Outline]:
    """Each control and state that has an outline: the names of its colour and its background."""
    sheet = (resources.files("ui.theme") / "style.qss").read_text(encoding="utf-8")
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    borders: dict[str, str] = {}
    backgrounds: dict[str, str] = {}
    for selectors, body in _RULE.findall(sheet):
        border = re.search(r"\bborder(?:-color)?:[^;]*?(@\w+|transparent|none)", body)
        background = re.search(r"\bbackground: (@\w+|transparent)", body)
        for selector in map(str.strip, selectors.split(",")):
            if not _CONTROL.fullmatch(selector):
                continue
            if border:
                borders[selector] = border[1].removeprefix("@")
            if background:
                backgrounds[selector] = background[1].removeprefix("@")
    found: list[Outline] = []
    for selector, border in borders.items():
        if border in ("none", "transparent") or selector.endswith(":disabled"):
            continue
        kind, role, _ = _parts(selector)
        inside = next(
            backgrounds[candidate]
            for candidate in (selector, kind + role, kind)
            if candidate in backgrounds
        )
        found.append((selector, border, "window" if inside == "transparent" else inside))
    return found


def _parts(selector: str) -> tuple[str, str, str]:
    matched = _CONTROL.fullmatch(selector)
    assert matched is not None
    return matched[1], matched[2], matched[3]


def test_the_stylesheet_was_read() -> None:
    states = {selector for selector, _, _ in outlines()}
    assert {"QLineEdit", "QComboBox:hover", "QPushButton:pressed", "QPushButton:focus"} <= states
    assert len(states) >= 20


@LOOKS
@pytest.mark.parametrize("outline", outlines(), ids=lambda outline: outline[0])
def test_an_outline_can_be_told_from_what_is_around_it(colours: Colours, outline: Outline) -> None:
    """WCAG 2.2, 1.4.11: 3 to 1, towards the window and towards the control's own ground."""
    _, border, inside = outline
    line, window, ground = (getattr(colours, name) for name in (border, "window", inside))
    assert contrast(line, window) >= 3
    # What is filled with a colour is told apart by that.
    assert contrast(line, ground) >= 3 or contrast(ground, window) >= 3


@LOOKS
@pytest.mark.parametrize("ground", BACKGROUNDS)
def test_grooves_handles_and_frames_can_be_seen(colours: Colours, ground: str) -> None:
    for line in ("outline", "focus"):
        assert contrast(getattr(colours, line), getattr(colours, ground)) >= 3


@LOOKS
def test_the_focus_outline_differs_from_those_of_errors_and_choices(colours: Colours) -> None:
    """Told apart by hue, not by where one looks: at least a third of the circle."""
    focus = QColor(colours.focus).hueF()
    for other in (colours.error, colours.accent):
        apart = abs(focus - QColor(other).hueF())
        assert min(apart, 1 - apart) > 1 / 3


# --- high contrast ---


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_text_of_high_contrast_is_seven_to_one(background: str) -> None:
    for text in ("text", "muted", "accent", "error", "focus"):
        assert contrast(getattr(CONTRAST, text), getattr(CONTRAST, background)) >= 7


def test_coloured_grounds_of_high_contrast_are_seven_to_one() -> None:
    for text, ground in (
        ("on_accent", "accent"),
        ("on_accent", "accent_hover"),
        ("text", "error_surface"),
        ("muted", "error_surface"),
        ("error", "error_surface"),
    ):
        assert contrast(getattr(CONTRAST, text), getattr(CONTRAST, ground)) >= 7


def test_lines_of_high_contrast_are_clear() -> None:
    for line in ("outline", "focus", "disabled"):
        assert contrast(getattr(CONTRAST, line), CONTRAST.window) >= 4.5
    # The edges of cards and rules are lines of their own there.
    assert contrast(CONTRAST.border, CONTRAST.window) >= 3
