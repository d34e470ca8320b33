"""Freezes what ComfyUI's nodes for PAG, SAG and FreeU do, by running them.

    python -m tests.sampling.freeze_guidance CHECKOUT

in the oracle environment, where CHECKOUT is comfyanonymous/ComfyUI, commit
a125cd84b054a57729b5eecab930ca9408719832. The nodes' own functions run; what they ask of the model
is answered by `attentive_toy`.

guidance.npz holds by "case/size" of `attentive_toy` the guided picture, and by "h" and "skip" the
features of the way up and their skip, under "FreeU/width/h" and so on what the nodes make of them.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.sampling.attentive_toy import (
    BLUR,
    CASES,
    NEGATIVE,
    POSITIVE,
    SIGMA,
    SIZES,
    maps,
    noised,
    picture,
)
from tests.sampling.toy import normals

FROZEN = Path(__file__).parent / "frozen" / "guidance.npz"
# The widths of FreeU's stages for a first width of 8, and the factors b1, b2, s1, s2.
WIDTHS, FIRST_WIDTH, FACTORS = (32, 16), 8, (1.3, 1.4, 0.9, 0.2)


class Model:
    """A `ModelPatcher`, as far as the nodes use one."""

    model = SimpleNamespace(model_config=SimpleNamespace(unet_config={"model_channels": 8}))

    def clone(self) -> "Model":
        return self

    def set_model_sampler_post_cfg_function(self, function: Any, **_: Any) -> None:
        self.post_cfg = function

    def set_model_attn1_replace(self, function: Any, *_: Any) -> None:
        self.record = function

    def set_model_output_block_patch(self, function: Any) -> None:
        self.patch = function


def main(checkout: Path) -> None:
    """Write the file."""
    prepare(checkout)
    arrays = {
        f"{name}/{label}": guided(*case, size)
        for name, case in CASES.items()
        for label, size in SIZES.items()
    }
    np.savez_compressed(FROZEN, **arrays, **free_u())


def guided(pag: float, sag: float, scale: float, size: tuple[int, int]) -> Any:
    """The picture after both nodes, in the order in which they are linked."""
    x = torch.from_numpy(noised(size))
    cond, uncond = (
        torch.from_numpy(picture(x.numpy(), context)) for context in (POSITIVE, NEGATIVE)
    )
    found = uncond + (cond - uncond) * scale
    given = {
        "model": None,
        "cond": POSITIVE,
        "uncond": NEGATIVE,
        "cond_denoised": cond,
        "uncond_denoised": uncond,
        "sigma": torch.tensor([float(SIGMA)]),
        "model_options": {},
        "input": x,
    }
    if pag:
        node = sys.modules["comfy_extras.nodes_pag"].PerturbedAttentionGuidance
        (model,) = node.execute(Model(), pag)
        found = model.post_cfg({**given, "denoised": found})
    if sag:
        node = sys.modules["comfy_extras.nodes_sag"].SelfAttentionGuidance
        (model,) = node.execute(Model(), sag, BLUR)
        scores(model, size)
        found = model.post_cfg({**given, "denoised": found})
    return found.numpy()


def scores(model: Any, size: tuple[int, int]) -> None:
    """Let the node keep the attention of the toy: queries are its logarithms, keys a unit."""
    attention = torch.from_numpy(maps(size, NEGATIVE).astype(np.float32))
    sag = sys.modules["comfy_extras.nodes_sag"]
    vars(sag)["attention_basic_with_sim"] = lambda q, k, v, **_: (v, attention)
    q = torch.zeros(1, attention.shape[1], 6)
    options = {"n_heads": len(attention), "cond_or_uncond": [1], "attn_precision": None}
    model.record(q, q, q, options)


def free_u() -> dict[str, Any]:
    """Features and skips of both stages, before and after both nodes."""
    nodes = importlib.import_module("comfy_extras.nodes_freelunch")
    found: dict[str, Any] = {}
    for width in WIDTHS:
        h, skip = normals([1, 2], (width, 6, 9)), normals([3, 4], (width, 6, 9))
        found |= {f"{width}/h": h, f"{width}/skip": skip}
        for name in ("FreeU", "FreeU_V2"):
            (model,) = getattr(nodes, name)().patch(Model(), *FACTORS)
            pair = model.patch(torch.from_numpy(h.copy()), torch.from_numpy(skip.copy()), {})
            found |= {f"{name}/{width}/h": pair[0].numpy(), f"{name}/{width}/skip": pair[1].numpy()}
    return found


def calc_cond_batch(model: Any, conds: Any, x: Any, sigma: Any, options: Any) -> Any:
    """The toy's answer; a prompt is its number."""
    return [torch.from_numpy(picture(x.numpy(), conds[0], perturbed="perturbed" in options))]


def prepare(checkout: Path) -> None:
    """Make the nodes importable without the rest of the tool."""
    sys.path.insert(0, str(checkout))
    node = SimpleNamespace(ComfyNode=object, NodeOutput=lambda *given: given)
    for name in ("comfy", "comfy.ldm", "comfy.ldm.modules", "comfy_api"):
        sys.modules[name] = MagicMock()
    samplers = MagicMock(calc_cond_batch=calc_cond_batch)
    patcher = MagicMock(set_model_options_patch_replace=lambda *_: {"perturbed": True})
    stand_ins = {
        "comfy.samplers": samplers,
        "comfy.model_patcher": patcher,
        "comfy.ldm.modules.attention": MagicMock(),
        "comfy_api.latest": MagicMock(io=node, ComfyExtension=object),
    }
    sys.modules.update(stand_ins)
    vars(sys.modules["comfy"]).update(samplers=samplers, model_patcher=patcher)
    for name in ("pag", "sag"):
        importlib.import_module(f"comfy_extras.nodes_{name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
