"""Draws the postcards of the empty canvas with the starter: `python -m tests.ui.make_postcards`."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from ui.first_postcards import POSTCARDS, picture_file


def main() -> None:
    """Write each picture of the list beside it, as WebP without its settings."""
    for card in POSTCARDS:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            words = ("generate", card.prompt, "--seed", str(card.seed), "--out", str(path))
            subprocess.run([sys.executable, "-m", "app", *words], check=True)
            with Image.open(path) as image:
                image.save(str(picture_file(card)), quality=85, method=6)


if __name__ == "__main__":
    main()
