"""Freezes the weights that Forge gives to what control networks add, by running it.

    python -m tests.pipeline.freeze_forge_controls CHECKOUT

in the oracle environment, where CHECKOUT is lllyasviel/stable-diffusion-webui-forge, commit
dfdcbab685e57677014f05a3309b48cc87383167: the tables of `process_unit_before_every_sampling`,
`ControlBase.control_merge` with `compute_controlnet_weighting`, and its T2I-Adapters, which say
where their images enter.

forge_controls.npz holds by family, kind of network and control mode float32 [2, residuals]: what is
left of ones for the prompt and for the negative prompt at a weight of 0.8, the outermost first.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import ast
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

FROZEN = Path(__file__).parent / "frozen" / "forge_controls.npz"
# The residuals of a ControlNet, and of the fields of a unit the mode.
RESIDUALS = {"sd1": 13, "sdxl": 10}
MODES = {"balanced": "Balanced", "prompt": "My prompt is more important"}
MODES["control"] = "ControlNet is more important"


def main(checkout: Path) -> None:
    """Write the file."""
    names: dict[str, Any] = {"torch": torch}
    define(checkout / "backend/patcher/controlnet.py", names)
    arrays: dict[str, Any] = {}
    for family, count in RESIDUALS.items():
        for mode, shown in MODES.items():
            positive, negative = tables(checkout, shown, is_sdxl=family == "sdxl")
            base = names["ControlBase"](device="cpu")
            base.strength = 0.8
            base.positive_advanced_weighting = positive
            base.negative_advanced_weighting = negative
            # The first row is the prompt's.
            mark = {"cond_mark": torch.tensor([0.0, 1.0]), "sigmas": torch.ones(2)}
            base.transformer_options = {"cond_or_uncond": [0, 1], **mark}
            ones = [torch.ones(2, 1, 1, 1) for _ in range(count)]
            out = base.control_merge(None, ones, None, torch.float32)
            arrays[f"{family}/net/{mode}"] = rows([*out["output"], *out["middle"]])
            images, middle = adapter(checkout, is_xl=family == "sdxl")
            out = base.control_merge(images, middle, None, torch.float32)
            inner = [image for image in reversed(out["input"]) if image is not None]
            arrays[f"{family}/adapter/{mode}"] = rows([*inner, *out["middle"]])
    np.savez_compressed(FROZEN, **arrays)


def define(module: Path, names: dict[str, Any]) -> None:
    """Define what weights residuals."""
    wanted = "compute_controlnet_weighting", "get_at", "ControlBase"
    for statement in ast.parse(module.read_text()).body:
        if getattr(statement, "name", None) in wanted:
            exec(ast.unparse(statement), names)


def tables(checkout: Path, mode: str, *, is_sdxl: bool) -> tuple[Any, Any]:
    """The weights of a control mode for the prompt and for the negative one."""
    source = checkout / "extensions-builtin/sd_forge_controlnet/scripts/controlnet.py"
    params = SimpleNamespace(model=SimpleNamespace())
    params.model.positive_advanced_weighting = params.model.negative_advanced_weighting = None
    modes = {
        "CONTROL": SimpleNamespace(value=MODES["control"]),
        "PROMPT": SimpleNamespace(value=MODES["prompt"]),
    }
    names: dict[str, Any] = {
        "p": SimpleNamespace(sd_model=SimpleNamespace(is_sdxl=is_sdxl)),
        "params": params,
        "unit": SimpleNamespace(control_mode=mode),
        "external_code": SimpleNamespace(ControlMode=SimpleNamespace(**modes)),
    }
    for node in ast.walk(ast.parse(source.read_text())):
        text = ast.unparse(node) if isinstance(node, ast.Assign | ast.If) else ""
        if text.startswith(("soft_weighting =", "zero_weighting =", "if unit.control_mode ==")):
            exec(text, names)
    return params.model.positive_advanced_weighting, params.model.negative_advanced_weighting


def adapter(checkout: Path, *, is_xl: bool) -> tuple[list[Any], Any]:
    """Ones at the places of an adapter's images, and those in the middle, as `get_control` has."""
    made = runpy.run_path(str(checkout / "backend/nn/cnets/t2i_adapter.py"))["Adapter"]
    unshuffle = 16 if is_xl else 8
    network = made([4, 4, 4, 4], nums_rb=2, cin=3 * unshuffle**2, ksize=1, sk=True, xl=is_xl)
    found = network(torch.zeros(2, 3, 128, 128))
    ones = [None if image is None else torch.ones(2, 1, 1, 1) for image in found]
    return (ones[:-1], ones[-1:]) if is_xl else (ones, None)


def rows(residuals: list[Any]) -> Any:
    return torch.cat([residual[:, :, 0, 0] for residual in residuals], dim=1).numpy()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
