"""Pictures in formats that only begin something: a GIF's first frame and AVIF, kept as PNG."""

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.decoding import MAX_PIXELS
from app.form.masks import keep_pasted
from engine.api.values import ErrorCode, ErrorInfo

translate = QCoreApplication.translate
_FORMATS = {".gif": "GIF", ".avif": "AVIF"}


def other_suffixes() -> tuple[str, ...]:
    """Return the endings of pictures that are kept as PNG before they are used."""
    # Pillow may come without the decoder of AVIF, as in our installations: it takes 5 MB.
    has_avif = find_spec("PIL._avif") is not None
    return tuple(suffix for suffix in _FORMATS if suffix != ".avif" or has_avif)


def is_of_other_format(path: Path) -> bool:
    """Return True for the name of a picture that is kept as PNG before it is used."""
    suffix = path.suffix.lower()
    return suffix in _FORMATS and suffix in other_suffixes()


def keep_as_png(path: Path, folder: Path) -> Path | ErrorInfo:
    """Keep a picture as `keep_pasted` does; return the PNG file's path. For a background thread."""
    # Here, as the window starts sooner without Pillow.
    from PIL import ImageOps

    from engine.metadata.opening import FORMATS, PictureFault, open_picture

    content, form = BytesIO(), _FORMATS[path.suffix.lower()]
    try:
        # Programs save what they have under the name of another format.
        with open_picture(path, (form, *FORMATS), MAX_PIXELS) as picture:
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
