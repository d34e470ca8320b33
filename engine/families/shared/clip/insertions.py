"""Inputs of a CLIP text encoder by which vectors of embeddings replace tokens."""

from collections.abc import Sequence

import numpy as np

from backends.base import Array
from engine.embeddings.embedding import CLIP_G, CLIP_L, Embedding, Encoder
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.clip.network import text_encoders
from engine.families.shared.component_network import config_of
from engine.families.shared.prompts.prompt_tokens import Insertions
from engine.graphs.clip_text import ClipTextConfig
from engine.text.embedded import NO_VECTOR

# The keys of the text encoders in files of embeddings.
_KEYS = {Component.TEXT_ENCODER: CLIP_L, Component.TEXT_ENCODER_2: CLIP_G}


def encoders_of(checkpoint: IdentifiedCheckpoint) -> dict[Component, Encoder]:
    """Return a checkpoint's text encoders, in order, as embeddings are made for them."""
    return {
        component: Encoder(_KEYS[component], config_of(checkpoint, component, ClipTextConfig).width)
        for component in text_encoders(checkpoint)
    }


def insertion_feeds(
    shape: Sequence[int],
    places: Insertions | None,
    vectors: Sequence[tuple[Embedding, int]],
    encoder: Encoder,
) -> dict[str, Array]:
    """Return the inputs `inserted` and `is_inserted` of `clip_text` for rows [rows, 77].

    `places` are indices into `vectors`, or `NO_VECTOR`; None: nothing is inserted.
    """
    inserted = np.zeros((*shape, encoder.width), np.float32)
    is_inserted = np.zeros(tuple(shape), np.float32)
    if places is not None:
        for row, column in np.argwhere(places != NO_VECTOR):
            embedding, index = vectors[int(places[row, column])]
            found = embedding.vectors_for(encoder)
            assert found is not None, "the reader places fitting vectors alone"
            inserted[row, column] = found[index]
            is_inserted[row, column] = 1
    return {"inserted": inserted, "is_inserted": is_inserted}


def last_vectors(end: Array, places: Insertions | None) -> Array:
    """Move the mark of the pooled token, float32 [rows, 77], to the last vector of each row.

    Of equal vectors the first place counts. Rows without vectors keep their mark.
    """
    if places is None:
        return end
    moved = np.eye(places.shape[1], dtype=np.float32)[np.argmax(places, axis=1)]
    has_vectors = (places != NO_VECTOR).any(axis=1)
    return np.where(has_vectors[:, None], moved, end)
