"""Vectors of embeddings as inputs of a text encoder, and the token that is pooled."""

import numpy as np

from engine.embeddings.embedding import CLIP_G, CLIP_L, Embedding, Encoder
from engine.families.shared.clip.insertions import insertion_feeds, last_vectors
from engine.text.chunks import first_end
from engine.text.embedded import NO_VECTOR

WIDE = Encoder(CLIP_G, 6)
RANDOM = np.random.default_rng(1)
STYLE = Embedding(
    "style",
    {
        CLIP_L: RANDOM.standard_normal((2, 4), np.float32),
        CLIP_G: RANDOM.standard_normal((2, 6), np.float32),
    },
)
VECTORS = ((STYLE, 0), (STYLE, 1))


def places_of(*rows: dict[int, int]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """The vectors at some positions of rows of 8."""
    places = np.full((len(rows), 8), NO_VECTOR, np.int32)
    for row, vectors in zip(places, rows, strict=True):
        for position, vector in vectors.items():
            row[position] = vector
    return places


def test_vectors_lie_at_their_positions_and_zeros_elsewhere() -> None:
    feeds = insertion_feeds((2, 8), places_of({2: 0, 3: 1}, {}), VECTORS, WIDE)
    assert feeds["inserted"].shape == (2, 8, 6)
    np.testing.assert_array_equal(feeds["inserted"][0, 2:4], STYLE.tensors[CLIP_G])
    np.testing.assert_array_equal(feeds["is_inserted"], places_of({2: 0, 3: 1}, {}) >= 0)
    assert not feeds["inserted"][0, 4:].any()
    assert not feeds["inserted"][1].any()


def test_each_encoder_gets_its_own_vectors() -> None:
    narrow = insertion_feeds((1, 8), places_of({5: 1}), VECTORS, Encoder(CLIP_L, 4))
    np.testing.assert_array_equal(narrow["inserted"][0, 5], STYLE.tensors[CLIP_L][1])


def test_rows_without_vectors_get_zeros() -> None:
    feeds = insertion_feeds((3, 8), None, VECTORS, WIDE)
    assert not feeds["inserted"].any()
    assert not feeds["is_inserted"].any()
    assert {array.dtype for array in feeds.values()} == {np.dtype(np.float32)}


def test_the_pooled_token_moves_to_the_last_vector_of_its_row() -> None:
    ids = np.array([[1, 5, 0, 0, 9, 9, 9, 9], [1, 5, 9, 9, 9, 9, 9, 9]], np.int64)
    end = first_end(ids, 9)
    assert end.argmax(axis=1).tolist() == [4, 2]
    moved = last_vectors(end, places_of({2: 0, 3: 1}, {}))
    assert moved.argmax(axis=1).tolist() == [3, 2]
    assert moved.sum(axis=1).tolist() == [1, 1]
    # Of the same vector twice the first place counts, as `argmax` of transformers has it.
    again = last_vectors(end, places_of({1: 1, 3: 1}, {}))
    assert again.argmax(axis=1).tolist() == [1, 2]
    assert last_vectors(end, None) is end
