"""Freezes the weights of ComfyUI_IPAdapter_plus by block, by running it.

    python -m tests.image_prompts.freeze_weights CHECKOUT

in the oracle environment, where CHECKOUT is cubiq/ComfyUI_IPAdapter_plus, commit
9d076a3df0d2763cef5510ec5ab807f6632c39f5. `ipadapter_attention` runs for each block with keys and
values of ones, so that its result is the weight, and nothing for zeros; where a type has weights of
its own by block, the statement of `ipadapter_execute` that makes them runs first.

weights.npz holds by "sd1/type" and "sdxl/type" the weight of each block, float32, for a weight of
0.8 and, where the composition has its own, 0.8 too; and by the same names under "negative/" what
the negative prompt sees of the picture.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

FROZEN = Path(__file__).parent / "frozen" / "weights.npz"
WEIGHT = 0.8
TYPES = (
    "linear",
    "ease in",
    "ease out",
    "ease in-out",
    "reverse in-out",
    "weak input",
    "weak middle",
    "weak output",
    "strong middle",
    "style transfer",
    "composition",
    "strong style transfer",
    "style and composition",
    "style transfer precise",
    "composition precise",
)
# The blocks before the middle's, and after it.
FAMILIES = {"sd1": (6, 9), "sdxl": (4, 6)}


def main(checkout: Path) -> None:
    """Write the file."""
    attention = prepare(checkout).ipadapter_attention
    arrays: dict[str, Any] = {}
    for family, (before, after) in FAMILIES.items():
        places = ["input"] * before + ["middle"] + ["output"] * after
        for kind in TYPES:
            weight = by_block(checkout, kind, is_sdxl=family == "sdxl")
            for side, prefix in enumerate(("", "negative/")):
                found = [
                    share(attention, kind, weight, i, places[i], family, side)
                    for i in range(len(places))
                ]
                arrays[f"{prefix}{family}/{kind}"] = np.array(found, np.float32)
    FROZEN.parent.mkdir(exist_ok=True)
    np.savez_compressed(FROZEN, **arrays)


def by_block(checkout: Path, kind: str, *, is_sdxl: bool) -> Any:
    """The weight as `ipadapter_execute` hands it to the attention: one, or a table of blocks."""
    tree = ast.parse((checkout / "IPAdapterPlus.py").read_text())
    statement = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        and ast.unparse(node.test).startswith("layer_weights is not None")
    )
    names = {"layer_weights": None, "weight_type": kind, "weight": WEIGHT, "is_sdxl": is_sdxl}
    names |= {"weight_composition": WEIGHT, "style_boost": None, "composition_boost": None}
    exec(compile(ast.Module([statement], []), "IPAdapterPlus.py", "exec"), names)
    return names["weight"]


def share(
    attention: Any, kind: str, weight: Any, place: int, block: str, family: str, side: int
) -> float:
    """Return the share that a block adds for the prompt, with 1 for the negative prompt."""
    keys = {"101_to_k_ip": None} if family == "sdxl" else {}
    project = keys | {"1_to_k_ip": torch.clone, "1_to_v_ip": torch.clone}
    adapter = SimpleNamespace(ip_layers=SimpleNamespace(to_kvs=project))
    adapter.get_multigpu_clone = lambda _: adapter
    q = torch.ones(1, 4, 8)
    options = {
        "cond_or_uncond": [side],
        "block": (block, 0),
        "transformer_index": place,
        "original_shape": (1, 4, 2, 2),
        "n_heads": 1,
    }
    given = {"module_key": "1", "ipadapter": adapter, "weight": weight, "weight_type": kind}
    picture = torch.ones(1, 2, 8)
    found = attention(q, q, q, q, options, cond=picture, uncond=0 * picture, **given)
    return float(torch.as_tensor(found, dtype=torch.float32).mean())


def prepare(checkout: Path) -> Any:
    """The module of the attention, with ComfyUI's replaced by PyTorch's."""

    def attention(q: Any, k: Any, v: Any, heads: int) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    for name in ("comfy", "comfy.ldm", "comfy.ldm.modules"):
        sys.modules[name] = MagicMock()
    sys.modules["comfy.ldm.modules.attention"] = MagicMock(optimized_attention=attention)
    package = ModuleType("ipadapter")
    package.__path__ = [str(checkout)]
    sys.modules["ipadapter"] = package
    sys.modules["ipadapter.utils"] = MagicMock()
    return importlib.import_module("ipadapter.CrossAttentionPatch")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
