"""The colour schemes: dark, like a darkroom by its safelight; light, like paper by day; contrast.

The one of high contrast has text of 7 to 1 and lines of 4.5 to 1 at least, on black.
"""

import msgspec
from PySide6.QtGui import QColor, QPalette

_Role = QPalette.ColorRole


class Colours(msgspec.Struct, frozen=True):
    """A colour scheme: a colour, as #rrggbb, for each purpose."""

    canvas: str
    window: str
    # The background of text fields and raised controls.
    surface: str
    hover: str
    border: str
    # The outline of controls: a contrast of 3 to 1 against its surroundings (WCAG 2.2, 1.4.11).
    outline: str
    text: str
    muted: str
    disabled: str
    accent: str
    accent_hover: str
    on_accent: str
    # The ring around the focused control: of another hue than errors and selections.
    focus: str
    error: str
    error_surface: str


DARK = Colours(
    canvas="#0f0d0c",
    window="#191615",
    surface="#26211f",
    hover="#322b28",
    border="#332c29",
    outline="#85776f",
    text="#f3ece7",
    muted="#b5a9a1",
    disabled="#857a73",
    accent="#ff7a45",
    accent_hover="#ff915f",
    on_accent="#200c04",
    focus="#7cc4de",
    error="#ff9d8f",
    error_surface="#371d18",
)
LIGHT = Colours(
    canvas="#e8e3da",
    window="#f6f2ec",
    surface="#fffdfa",
    hover="#ebe5db",
    border="#dcd4c8",
    outline="#7d7266",
    text="#28211c",
    muted="#655a51",
    disabled="#857b71",
    accent="#b5381a",
    accent_hover="#9d2f14",
    on_accent="#ffffff",
    focus="#15607a",
    error="#9c2116",
    error_surface="#fbe4dd",
)
CONTRAST = Colours(
    canvas="#000000",
    window="#000000",
    surface="#000000",
    hover="#2b2b2b",
    border="#6a6a6a",
    outline="#ffffff",
    text="#ffffff",
    muted="#e6e6e6",
    disabled="#b0b0b0",
    accent="#ffb000",
    accent_hover="#ffc64d",
    on_accent="#000000",
    focus="#4dd2ff",
    error="#ffb3a8",
    error_surface="#330b05",
)


# The role that brings each colour to the stylesheet. Light, Midlight and LinkVisited are of no
# other use here: this style has no bevels, and no text has links.
ROLES = {
    "canvas": _Role.Shadow,
    "window": _Role.Window,
    "surface": _Role.Base,
    "hover": _Role.AlternateBase,
    "border": _Role.Dark,
    "outline": _Role.Mid,
    "text": _Role.Text,
    "muted": _Role.PlaceholderText,
    "disabled": _Role.Light,
    "accent": _Role.Highlight,
    "accent_hover": _Role.LinkVisited,
    "on_accent": _Role.HighlightedText,
    # Styles draw the focus ring in this colour.
    "focus": _Role.Accent,
    "error": _Role.BrightText,
    "error_surface": _Role.Midlight,
}


def palette(colours: Colours) -> QPalette:
    """Return the colours as a QPalette, from which the stylesheet takes them."""
    made = QPalette()
    for name, role in ROLES.items():
        made.setColor(role, QColor(getattr(colours, name)))
    for role in (_Role.WindowText, _Role.ButtonText, _Role.ToolTipText):
        made.setColor(role, QColor(colours.text))
    for role in (_Role.Button, _Role.ToolTipBase):
        made.setColor(role, QColor(colours.surface))
    made.setColor(_Role.Link, QColor(colours.accent))
    for role in (_Role.Text, _Role.WindowText, _Role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.disabled))
    return made


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21, as defined by WCAG 2."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    def linear(level: float) -> float:
        return level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4

    parsed = QColor(colour)
    red, green, blue = (linear(x) for x in (parsed.redF(), parsed.greenF(), parsed.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
