"""Freezes "embeds_scaling" and "combine_embeds" of ComfyUI_IPAdapter_plus, by running it.

    python -m tests.image_prompts.freeze_joining CHECKOUT

in the oracle environment, where CHECKOUT is cubiq/ComfyUI_IPAdapter_plus, commit
9d076a3df0d2763cef5510ec5ab807f6632c39f5: `ipadapter_attention`, and the statement of
`ipadapter_execute` that joins what the encoder sees.

joining.npz holds by a scaling and a width what attention adds, float32 [1, 3, width], for one head;
by a combination what is shown to the adapter, float32 [pictures, tokens, numbers].
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from tests.image_prompts.freeze_weights import prepare
from tests.image_prompts.joining_cases import (
    CASES,
    COMBINATIONS,
    KEYS,
    PICTURES,
    QUERIES,
    VALUES,
    WEIGHT,
)

FROZEN = Path(__file__).parent / "frozen" / "joining.npz"


def main(checkout: Path) -> None:
    """Write the file."""
    attention = prepare(checkout).ipadapter_attention
    arrays: dict[str, Any] = {
        f"{scaling}/{width}": added(attention, scaling, width) for scaling, width in CASES
    }
    tree = ast.parse((checkout / "IPAdapterPlus.py").read_text())
    statement = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).startswith("combine_embeds !=")
    )
    for way in COMBINATIONS:
        names: dict[str, Any] = {"torch": torch, "combine_embeds": way, "unfold_batch": False}
        names |= {"face_cond_embeds": None, "img_comp_cond_embeds": None}
        names |= dict.fromkeys(
            ("img_cond_embeds", "img_uncond_embeds"), torch.from_numpy(PICTURES.copy())
        )
        exec(compile(ast.Module([statement], []), "IPAdapterPlus.py", "exec"), names)
        arrays[way] = names["img_cond_embeds"].numpy()
    np.savez_compressed(FROZEN, **arrays)


def added(attention: Any, scaling: str, width: int) -> Any:
    """Return the result of attention at a layer of a width."""
    keys, values = (torch.from_numpy(by_width[width]) for by_width in (KEYS, VALUES))
    project = {"1_to_k_ip": lambda _: keys, "1_to_v_ip": lambda _: values}
    adapter = SimpleNamespace(ip_layers=SimpleNamespace(to_kvs=project))
    adapter.get_multigpu_clone = lambda _: adapter
    q = torch.from_numpy(QUERIES[width])
    options = {
        "cond_or_uncond": [0],
        "block": ("input", 0),
        "transformer_index": 0,
        "original_shape": (1, 4, 1, 3),
        "n_heads": 1,
    }
    given = {"module_key": "1", "ipadapter": adapter, "weight": WEIGHT, "embeds_scaling": scaling}
    return attention(q, q, q, q, options, cond=keys, uncond=keys, **given).numpy()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
