"""Networks of others are named for what they are, in every layout."""

import json
from pathlib import Path

import pytest

from engine.checkpoints.files import read_index
from engine.families.listing import Listing as TensorListing
from engine.families.recognition import FOREIGN_KINDS, recognise
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.checkpoints.gguf_files import write_sparse_gguf
from tests.families.listings import Listing
from tests.families.other_titles import NAMES, TITLES

FROZEN = Path(__file__).parent / "frozen" / "others.jsonl"


def frozen() -> dict[str, Listing]:
    """The shapes of each class, in short."""
    entries = map(json.loads, FROZEN.read_text().splitlines())
    return {entry["of"]: {k: tuple(v) for k, v in entry["tensors"].items()} for entry in entries}


OTHERS = frozen()
TITLE_OF = {name: title for title, names in TITLES.items() for name in names}


def found(folder: Path, names: Listing, *, as_gguf: bool = False) -> list[str]:
    """The title, and the families that would take it."""
    write = write_sparse_gguf if as_gguf else write_sparse
    path = write(folder / ("x.gguf" if as_gguf else "x.safetensors"), names)
    listing = TensorListing(read_index(path).tensors)
    kind = recognise(listing).kind
    families = [family.name for family in FAMILIES if family.recognise(listing)]
    return [kind.title if kind else "unknown", *families]


def test_every_class_has_a_title() -> None:
    assert TITLE_OF.keys() == OTHERS.keys()
    assert set(TITLES) <= {kind.title for kind in FOREIGN_KINDS}


@pytest.mark.parametrize("name", OTHERS)
def test_a_class_is_named(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, OTHERS[name])[0] == TITLE_OF[name]
    assert found(tmp_path, OTHERS[name], as_gguf=True)[0] == TITLE_OF[name]


@pytest.mark.parametrize(("title", "names"), NAMES, ids=lambda value: str(value)[:40])
def test_names_alone_tell(tmp_path: Path, title: str, names: tuple[str, ...]) -> None:
    shapes: Listing = dict.fromkeys(names, (4, 4))
    assert found(tmp_path, shapes)[0] == title
    assert found(tmp_path, shapes, as_gguf=True)[0] == title


def test_real_esrgans_small_network_is_told_by_its_slopes(tmp_path: Path) -> None:
    names: Listing = {"body.0.weight": (64, 3, 3, 3), "body.0.bias": (64,), "body.1.weight": (64,)}
    names |= {"body.2.weight": (64, 64, 3, 3), "body.2.bias": (64,)}
    assert found(tmp_path, names) == ["an upscaler"]
    assert found(tmp_path, {"body.0.weight": (4, 4), "body.1.weight": (4, 4)}) == ["unknown"]


@pytest.mark.parametrize("words", [1, 3, 4, 40])
def test_an_embedding_of_any_number_of_words(tmp_path: Path, words: int) -> None:
    names: Listing = {f"<{number}>": (768,) for number in range(words)}
    assert found(tmp_path, names) == ["a textual inversion embedding"]


def test_norms_of_a_network_are_no_words(tmp_path: Path) -> None:
    names: Listing = {f"{number}.norm.weight": (768,) for number in range(9)}
    assert found(tmp_path, names) == ["unknown"]
