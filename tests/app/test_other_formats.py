"""Pictures in formats that only begin something are kept as PNG, whatever their content is."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from app.form.other_formats import keep_as_png
from engine.api.values import ErrorInfo

# Reads what is no picture, writes and reads each format, and names what Pillow imported for others.
CODE = """
import sys
from pathlib import Path
from engine.metadata.opening import PictureFault, open_picture
folder = Path(sys.argv[1])
(folder / "text").write_text("no picture")
try:
    with open_picture(folder / "text"):
        pass
except PictureFault:
    print(*(name for name in sys.modules if "Dds" in name or "Psd" in name))
import numpy as np
from engine.api.saving import PictureFormat
from engine.output.encoding import encode_picture
for form in PictureFormat:
    path = folder / f"picture.{form}"
    path.write_bytes(encode_picture(np.zeros((8, 8, 3), np.uint8), (), form, 90))
    with open_picture(path) as picture:
        picture.load()
print(*(name for name in sys.modules if "Dds" in name or "Psd" in name))
"""


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_a_picture_under_the_name_of_another_format_is_kept(tmp_path: Path, form: str) -> None:
    path = tmp_path / "picture.gif"
    Image.new("RGB", (8, 4), "teal").save(path, form)
    kept = keep_as_png(path, tmp_path / "kept")
    assert isinstance(kept, Path)
    with Image.open(kept) as picture:
        assert (picture.format, picture.size) == ("PNG", (8, 4))


def test_a_damaged_picture_is_told_where_pillow_lacks_avif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installations leave it out."""
    monkeypatch.delitem(Image.OPEN, "AVIF", raising=False)
    monkeypatch.setattr(Image, "_initialized", 2)
    path = tmp_path / "picture.gif"
    path.write_bytes(b"no picture")
    told = keep_as_png(path, tmp_path / "kept")
    assert isinstance(told, ErrorInfo)
    assert "picture.gif" in told.message


def test_our_formats_are_read_and_written_without_the_import_of_all_others(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CODE, str(tmp_path)]
    assert subprocess.run(command, check=True, capture_output=True).stdout.strip() == b""
