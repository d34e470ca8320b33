"""Freezes how extensions of A1111 read tags of LoRAs, from their own functions. Run

    python -m tests.text.freeze_lora_tags LORACTL LBW

with the folders of checkouts of

    https://github.com/cheald/sd-webui-loractl at b48cf602b0c414a362726fa079a284f3ae6a51e2
    https://github.com/hako-mikan/sd-webui-lora-block-weight at
        b403cb7300f288360023c2a1978b86a361934e24
"""
# pyright: basic

import ast
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.text.lora_cases import (
    BLOCKS,
    ELEMENTS,
    FLUX_ELEMENTS,
    FLUX_LAYERS,
    FLUX_WEIGHTS,
    LAYERS,
    STEPS,
    STRENGTHS,
    TEXT_LAYER,
)

FROZEN = Path(__file__).parent / "frozen" / "lora_tags.json"
_FUNCTIONS = {"to26", "ratiodealer", "hyphener", "get_flux_blocks"}
_VALUES = {
    "BLOCKID26", "BLOCKID17", "BLOCKID12", "BLOCKID20", "BLOCKIDFLUX", "BLOCKNUMS", "BLOCKIDS",
    "BLOCKS", "DEF_WEIGHT_PRESET", "princ",
}  # fmt: skip


def strengths(checkout: Path) -> list[Any]:
    """For each tag and number of steps: the denoiser's strengths, and the text encoder's first."""
    given: dict[str, Any] = {}
    exec((checkout / "loractl" / "lib" / "utils.py").read_text("utf-8"), given)
    rows: list[Any] = []
    for case in STRENGTHS:
        items = [str(item) for item in f"ink{case}".split(":")]
        pairs = [item.split("=", 2) for item in items]
        named = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
        positional = [item for item, pair in zip(items, pairs, strict=True) if len(pair) != 2]
        params = SimpleNamespace(positional=positional, named=named)
        for steps in STEPS:
            weights = given["params_to_weights"](params)
            # A1111 counts a step once it is over.
            seen = [max(0, step - 1) for step in range(steps)]
            of = given["calculate_weight"]
            denoiser = [round(float(of(weights["unet"], step, steps)), 6) for step in seen]
            rows.append([case, steps, denoiser, round(float(of(weights["te"], 0, steps)), 6)])
    return rows


def functions(checkout: Path) -> dict[str, Any]:
    source = (checkout / "scripts" / "lora_block_weight.py").read_text("utf-8")
    wanted: list[ast.stmt] = [
        node
        for node in ast.parse(source).body
        if (isinstance(node, ast.FunctionDef) and node.name in _FUNCTIONS)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in _VALUES)
    ]
    given: dict[str, Any] = {"re": re}
    exec(compile(ast.Module(wanted, []), "lbw", "exec"), given)
    return given


def blocks(given: dict[str, Any]) -> list[Any]:
    """For each list of weights: the factors of the layers, and that of the text encoder."""
    presets = dict(line.split(":", 1) for line in given["DEF_WEIGHT_PRESET"].splitlines())
    rows: list[Any] = []
    for case in BLOCKS:
        weights = [float(part) for part in presets.get(case, case).split(",")]
        if len(weights) != 26:
            weights = given["to26"](weights)
        factors = [given["ratiodealer"](key, weights, "")[0] for key in (*LAYERS, TEXT_LAYER)]
        rows.append([case, [float(factor) for factor in factors]])
    return rows


def elements(given: dict[str, Any]) -> list[Any]:
    """For each set of elements: the factors of the layers, of which blocks have half."""
    weights = [0.5] * 26
    return [
        [
            case,
            [float(given["ratiodealer"](key, weights, case)[0]) for key in (*LAYERS, TEXT_LAYER)],
        ]
        for case in ELEMENTS
    ]


def flux(given: dict[str, Any]) -> list[Any]:
    """For each set of elements, and for none: the factors of the layers of Flux.1."""
    weights = [float(part) for part in FLUX_WEIGHTS.split(",")]
    of = given["ratiodealer"]
    return [
        [c, [float(of(key, weights, c, True)[0]) for key in FLUX_LAYERS]] for c in FLUX_ELEMENTS
    ]


if __name__ == "__main__":
    loractl, lbw = map(Path, sys.argv[1:])
    given = functions(lbw)
    answers = {
        "strengths": strengths(loractl),
        "blocks": blocks(given),
        "elements": elements(given),
        "flux": flux(given),
    }
    FROZEN.write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
