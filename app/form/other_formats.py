"""Pictures in formats that only begin something: a GIF's first frame and AVIF, kept as PNG."""

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.decoding import MAX_PIXELS
from app.form.masks import keep_pasted
from engine.api.values import ErrorCode, ErrorInfo
from engine.metadata.picture_kinds import PictureKind, kind_of_file

translate = QCoreApplication.translate
_FORMATS = {".gif": "GIF", ".avif": "AVIF"}
_SUFFIXES: dict[PictureKind | None, str] = {PictureKind.GIF: ".gif", PictureKind.AVIF: ".avif"}


def other_suffixes() -> tuple[str, ...]:
    """Return the endings of pictures that are kept as PNG before they are used."""
    # Pillow may come without the decoder of AVIF, as in our installations: it takes 5 MB.
    has_avif = find_spec("PIL._avif") is not None
    return tuple(suffix for suffix in _FORMATS if suffix != ".avif" or has_avif)


def is_of_other_format(path: Path) -> bool:
    """Return True for the name of a picture that is kept as PNG before it is used."""
    suffix = path.suffix.lower()
    return suffix in _FORMATS and suffix in other_suffixes()


def begins_as_png(path: Path) -> bool:
    """Return True for a picture that is kept as PNG before it is used, whatever its name is.

    The content tells, as in the Gallery; a name of another format does so where content is ours.
    """
    return is_of_other_format(path) or _suffix_by_content(path) in other_suffixes()


def _suffix_by_content(path: Path) -> str | None:
    """Return the ending that a picture of another format should have; None for other files."""
    return _SUFFIXES.get(kind_of_file(path))


def keep_as_png(path: Path, folder: Path) -> Path | ErrorInfo:
    """Keep a picture as `keep_pasted` does; return the PNG file's path. For a background thread."""
    # Here, as the window starts sooner without Pillow.
    from PIL import ImageOps

    from engine.metadata.opening import FORMATS, PictureFault, open_picture

    content = BytesIO()
    # Programs save what they have under the name of another format.
    suffix = _suffix_by_content(path) or path.suffix.lower()
    other = (_FORMATS[suffix],) if suffix in other_suffixes() else ()
    try:
        with open_picture(path, (*other, *FORMATS), MAX_PIXELS) as picture:
            mode = "RGBA" if picture.has_transparency_data else "RGB"
            ImageOps.exif_transpose(picture.convert(mode)).save(content, "PNG", compress_level=1)
    except PictureFault as fault:
        return ErrorInfo(
            ErrorCode.INPUT_IMAGE_UNREADABLE,
            translate("masks", "{name} cannot be read as a picture.").format(name=path.name[:80]),
            translate("masks", "Save it as a PNG file in another program."),
            str(fault),
        )
    return keep_pasted(folder, content.getvalue())
