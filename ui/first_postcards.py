"""Pictures of the starter's to click on, from those of its examples that have one.

`python -m tests.ui.make_postcards` draws them anew.
"""

from importlib import resources
from importlib.resources.abc import Traversable

from app.form.examples import STARTER_EXAMPLES, StarterExample

# Beside the starter, which no installation packs into an archive: the list of models needs a path.
_FOLDER = resources.files("starter") / "postcards"
POSTCARDS = tuple(example for example in STARTER_EXAMPLES if example.postcard)


def picture_file(card: StarterExample) -> Traversable:
    """Return the file of a postcard's picture, 256 x 256 pixels, WebP."""
    return _FOLDER / f"{card.postcard}.webp"
