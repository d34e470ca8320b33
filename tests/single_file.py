"""A small Stable Diffusion checkpoint in a single file, in the original layout, without numbers."""

from pathlib import Path

from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import ClipSizes

# CLIP's own words, because a single file brings no tokenizer.
_TEXT = ClipSizes(width=listings.SMALL_CLIP.width, layers=2)


def write_single_file(path: Path) -> Path:
    """Write the file, whose weights are all zero."""
    listing = listings.original(listings.SMALL_UNET, listings.SMALL_VAE, _TEXT)
    return write_sparse(path, listing)
