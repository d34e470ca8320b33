"""Sizes of Z-Image's transformer, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.zimage import PATCH, ZImageConfig
from engine.weights.stored import StoredWeight


def zimage_config(
    weights: Mapping[str, StoredWeight], path: Path, axes: tuple[int, int, int] | None = None
) -> ZImageConfig:
    """Read the sizes of a transformer. Raises EngineError for inconsistent shapes.

    `axes` are the stated parts of a head that turn with each coordinate; None: those of Z-Image, a
    quarter and two equal halves of the rest.
    """
    shapes = Shapes(weights, path)
    width, numbers = shapes.of("all_x_embedder.2-1.weight", 2)
    head = shapes.of("layers.0.attention.norm_q.weight", 1)[0]
    check_divides(path, width, head, "numbers of a head")
    check_divides(path, numbers, PATCH**2, "cells of a token")
    if axes is None:
        check_divides(path, head, 16, "numbers of the coordinates")
        axes = (head // 4, head * 3 // 8, head * 3 // 8)
    embedded, _ = shapes.of("t_embedder.mlp.0.weight", 2)
    return ZImageConfig(
        channels=numbers // PATCH**2,
        width=width,
        heads=width // head,
        mlp_width=shapes.of("layers.0.feed_forward.w1.weight", 2)[0],
        context_width=shapes.of("cap_embedder.1.weight", 2)[1],
        embedded_width=embedded,
        embedding_width=shapes.of("t_embedder.mlp.2.weight", 2)[0],
        layers=shapes.blocks("layers", "attention.to_q.weight"),
        refiners=shapes.blocks("noise_refiner", "attention.to_q.weight"),
        axes=axes,
    )
