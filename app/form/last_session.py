"""The form and the window's place, in a file that is read at the next start."""

from pathlib import Path

import msgspec

from app.form.fields import Form
from app.storage.document import DocumentKind, text_to_path
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.api.values import ErrorInfo

VERSION = 1
FILE = "session.json"
# Two prompts of the longest kind take a hundredth of it.
_MOST_BYTES = 16 << 20


class WindowPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A window's place on the desktop without its frame; if maximized, its place before."""

    x: int
    y: int
    width: int
    height: int
    maximized: bool = False


class WindowLayout(msgspec.Struct, frozen=True, kw_only=True):
    """The arrangement of the window's parts. `place` is the name of the open place.

    `side_width`, in pixels, is that of the form's side; 0 until the user drags it.
    """

    place: str = "create"
    side_width: int = 0
    side_folded: bool = False
    # True while the pane that tells how the picture was made is open.
    details: bool = False
    # The number of the colour in which masks are shown.
    veil: int = 0
    # The names of the form's open sections.
    sections: tuple[str, ...] = ()


class LastSession(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. `opened` are checkpoints outside of the models folder."""

    form: Form
    opened: tuple[Path, ...] = ()
    place: WindowPlace | None = None
    layout: WindowLayout = WindowLayout()
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(LastSession, dec_hook=text_to_path),
    _MOST_BYTES,
    damaged=sentence("What was in the window the last time cannot be read; it begins anew."),
    newer=sentence(
        "What was in the window was left by a newer version of Safelight; this one begins anew."
    ),
    version=VERSION,
)


def encode(last: LastSession) -> bytes:
    """Return a session as the content of its file."""
    return encode_json(last, enc_hook=str)


def read_last_session(folder: Path) -> tuple[LastSession | None, ErrorInfo | None]:
    """Return the last session and the problem with its file; None for either that is missing.

    A file that is damaged, or of a newer Safelight, is put aside. Never raises.
    """
    return _KIND.read(folder / FILE)
