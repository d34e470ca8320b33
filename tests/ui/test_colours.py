"""Both sets of colours can be read: text at 4.5 to 1, signs and focus at 3 to 1."""

from dataclasses import fields

import pytest
from PySide6.QtGui import QPalette

from ui.theme.colours import DARK, LIGHT, Colours, contrast, palette

LOOKS = pytest.mark.parametrize("colours", [DARK, LIGHT], ids=["dark", "light"])
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


def test_contrast_is_what_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#ffffff") == pytest.approx(1)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_colour_is_one() -> None:
    for colours in (DARK, LIGHT):
        for field in fields(colours):
            value = getattr(colours, field.name)
            assert len(value) == 7
            assert int(value[1:], 16) >= 0
