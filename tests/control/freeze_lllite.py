"""Freezes what kohya's own module makes of the samples; run once, with torch and sd-scripts.

    python -m tests.control.freeze_lllite path/to/sd-scripts

Its commit 48d368fa of 16 February 2026 was used.
"""
# pyright: basic, reportMissingImports=false
# torch and sd-scripts are absent from the environment that is type-checked.

import ast
import sys
from pathlib import Path

import numpy as np

from tests.control.lllite_sample import (
    EMBEDDED,
    INNER,
    KERNELS,
    WIDTH,
    module_weights,
    picture_map,
    tokens,
)

FROZEN = Path(__file__).parent / "frozen" / "lllite.npz"


def module_class(scripts: Path):
    """The class LLLiteModule alone: its file imports what is not needed here."""
    import torch

    source = (scripts / "networks" / "control_net_lllite.py").read_text(encoding="utf-8")
    nodes: list[ast.stmt] = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == "LLLiteModule"
    ]
    scope: dict = {"torch": torch}
    exec(compile(ast.Module(nodes, []), "control_net_lllite.py", "exec"), scope)
    return scope["LLLiteModule"]


def main(scripts: Path) -> None:
    """Run each sample with an identity as the projection, and keep what was added to its input."""
    import torch

    found = {}
    for depth in KERNELS:
        layer = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        layer.weight.data = torch.eye(WIDTH)
        module = module_class(scripts)(depth, EMBEDDED, "sample", layer, INNER)
        weights = {name: torch.from_numpy(array) for name, array in module_weights(depth).items()}
        module.load_state_dict(weights)
        module.apply_to()
        with torch.no_grad():
            # The trainer and the nodes give maps in [-1, 1].
            module.set_cond_image(torch.from_numpy(picture_map(depth)) * 2 - 1)
            found[str(depth)] = layer(torch.from_numpy(tokens())).numpy()
    FROZEN.parent.mkdir(exist_ok=True)
    np.savez(FROZEN, **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
