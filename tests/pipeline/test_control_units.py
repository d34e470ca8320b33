"""Layers that one evaluation of a network serves, by the rules of tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.api.control import ControlLayer, ControlMode
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName
from engine.control.network import BorrowedSizes, ControlForm, ControlNetwork
from engine.pipeline.control.layers import ReadLayer
from engine.pipeline.control.units import units_of

PICTURE = np.zeros((8, 8, 3), np.uint8)
DEPTH, CANNY = ControlKind.DEPTH, ControlKind.CANNY
DIFFUSERS = ConventionName.DIFFUSERS


def a_layer(
    kind: ControlKind | None, form: ControlForm = ControlForm.UNION, **changes: Any
) -> ReadLayer:
    network = ControlNetwork(Path("net"), form, "sdxl", form.value, {}, BorrowedSizes(8))
    mask = Image.new("L", (8, 8)) if changes.get("mask") else None
    return ReadLayer(ControlLayer(image="map.png", **changes), network, PICTURE, kind, mask)


def places(layers: Sequence[ReadLayer], tool: ConventionName = DIFFUSERS) -> list[list[int]]:
    return [[layers.index(layer) for layer in unit.layers] for unit in units_of(layers, tool)]


def test_diffusers_shows_a_union_all_of_its_maps_at_once() -> None:
    other = a_layer(DEPTH, ControlForm.CONTROL_NET)
    layers = [a_layer(DEPTH, weight=0.8), other, a_layer(CANNY, weight=0.5)]
    assert places(layers) == [[0, 2], [1]]
    unit = units_of(layers, DIFFUSERS)[0]
    assert (unit.kinds, unit.weights) == ([DEPTH, CANNY], [0.8, 0.5])
    # Their weights act within the network.
    assert unit.leader.layer.weight == 1
    assert units_of(layers[:1], DIFFUSERS)[0].leader.layer.weight == 0.8


@pytest.mark.parametrize("tool", [tool for tool in ConventionName if tool is not DIFFUSERS])
def test_other_tools_show_a_union_one_map_after_the_other(tool: ConventionName) -> None:
    assert places([a_layer(DEPTH), a_layer(CANNY)], tool) == [[0], [1]]


@pytest.mark.parametrize(
    "changes",
    [
        {"range": (0.0, 0.5)},
        {"mode": ControlMode.PROMPT},
        {"mask": "mask.png"},
        {"weight": 0.0},
    ],
    ids=str,
)
def test_a_map_that_acts_otherwise_is_shown_by_itself(changes: dict[str, Any]) -> None:
    assert places([a_layer(DEPTH), a_layer(CANNY, **changes)]) == [[0], [1]]
