"""Each header of the corpus is one thing, with the parts it has, in words, and soon."""

from pathlib import Path

import pytest

from engine.checkpoints.safetensors import read_index
from engine.families import identify
from engine.families.listing import Listing as TensorListing
from engine.families.recognition import recognise
from engine.families.registry import FAMILIES
from tests.families.corpus import corpus
from tests.thinned import thinned

CORPUS = corpus()


@pytest.mark.parametrize("name", thinned(CORPUS, [*CORPUS][::2]))
def test_each_checkpoint_of_the_corpus_is_of_one_family(tmp_path: Path, name: str) -> None:
    entry = CORPUS[name]
    path = entry.write(tmp_path / "x.safetensors")
    listing = TensorListing(read_index(path).tensors)
    found = [family.name for family in FAMILIES if family.recognise(listing)]
    assert (found, recognise(listing).kind) == ([entry.family], None)
    checkpoint = identify(path)
    assert (checkpoint.family, checkpoint.variant) == (entry.family, entry.variant)
    assert checkpoint.missing == entry.missing
    assert checkpoint.prediction is entry.prediction
    title = next(family.title for family in FAMILIES if family.name == entry.family)
    assert str(checkpoint.evidence[-1]).startswith(f"{title}, {entry.prediction.label} because ")


def test_the_corpus_is_whole() -> None:
    """Each family in each layout, type and variant; kilobytes each."""
    assert len(CORPUS) > 80
    families = {entry.family for entry in CORPUS.values()}
    assert families == set(FAMILIES.names), "files of each are in tests/families/corpus.py"
