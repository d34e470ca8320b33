"""The icon in the file formats of the three systems, drawn anew for each size.

    python -m installers.icon.files FOLDER

writes safelight.ico, safelight.icns, safelight.svg and safelight-SIZE.png. The same drawing and
the same Qt and Pillow give the same bytes.
"""

import struct
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

from ui.theme.app_icon import app_icon_drawing, draw_app_icon

# freedesktop.org's usual sizes, in pixels.
PNG_SIDES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
# Sizes of Windows' shell at 100 to 250 % scale. From 128 pixels on PNG keeps the file small;
# smaller ones are bitmaps, which every program that reads icons knows.
_ICO_SIDES = (16, 20, 24, 32, 40, 48, 64, 96, 128, 256)
_ICO_PNG_FROM = 128
# Of 16, 32, 128, 256 and 512 points, at one and two pixels a point.
_ICNS_SIDES = (16, 32, 64, 128, 256, 512, 1024)


def write_icons(folder: Path) -> None:
    """Write the icon in every format into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for side in PNG_SIDES:
        (folder / f"safelight-{side}.png").write_bytes(png_icon(side))
    (folder / "safelight.svg").write_bytes(app_icon_drawing(PNG_SIDES[-1]).read_bytes())
    (folder / "safelight.ico").write_bytes(ico_icon())
    (folder / "safelight.icns").write_bytes(icns_icon())


def png_icon(side: int) -> bytes:
    """Return the icon as a PNG file, `side` pixels wide and high."""
    return _saved(_drawn(side), "PNG")


def icns_icon() -> bytes:
    """Return the icon as macOS's .icns file."""
    largest, *others = (_drawn(side) for side in reversed(_ICNS_SIDES))
    return _saved(largest, "ICNS", append_images=others)


def ico_icon() -> bytes:
    """Return the icon as Windows' .ico file."""
    entries, images = b"", b""
    offset = 6 + 16 * len(_ICO_SIDES)
    for side in _ICO_SIDES:
        entry, image = _ico_entry(side)
        # An entry ends with the offset of its image in the file.
        entries += entry[:12] + struct.pack("<I", offset + len(images))
        images += image
    return struct.pack("<3H", 0, 1, len(_ICO_SIDES)) + entries + images


def _ico_entry(side: int) -> tuple[bytes, bytes]:
    """Return the entry of 16 bytes and the image of an .ico file of one size."""
    form = "png" if side >= _ICO_PNG_FROM else "bmp"
    file = _saved(_drawn(side), "ICO", sizes=[(side, side)], bitmap_format=form)
    return file[6:22], file[22:]


def _drawn(side: int) -> Image.Image:
    drawn = draw_app_icon(side)
    return Image.frombytes("RGBA", (side, side), bytes(drawn.constBits()), "raw", "BGRA")


def _saved(image: Image.Image, form: str, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


if __name__ == "__main__":
    write_icons(Path(sys.argv[1]))
