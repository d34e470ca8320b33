"""Freezes what A1111's denoiser attends to, by running its own modules over `lookup`.

    python -m tests.pipeline.freeze_a1111 CHECKOUT

in the oracle environment with `pip install lark==1.1.2`, where CHECKOUT is
AUTOMATIC1111/stable-diffusion-webui 1.10.1, commit 5347a0d3261e467f6861ea9407016579e5cc6113. What
they import of the rest of the program is replaced.

a1111_prompts.npz holds for each case of `lookup.A1111`, by "setting/case/evaluation", what the
positive prompts and the negative one come to, joined where they are equally long: under "plain" as
they are, under "pad" and "pad_v0" after the two ways of padding, under "no_norm" without restoring
the mean, under "weights/case" the weights.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from engine.text.tokenizers import load_clip_tokenizer
from tests.pipeline.lookup import A1111, STEPS, look_up

FROZEN = Path(__file__).parent / "frozen" / "a1111_prompts.npz"
OPTIONS = SimpleNamespace(
    emphasis="Original",
    comma_padding_backtrack=20,
    textual_inversion_add_hashes_to_infotext=False,
)


def main(checkout: Path) -> None:
    """Write the file."""
    prepare(checkout)
    parser = importlib.import_module("modules.prompt_parser")
    model = make_model(importlib.import_module("modules.sd_hijack_clip"))
    arrays: dict[str, Any] = {}
    for case, (prompt, negative) in enumerate(A1111):
        for setting in ("plain", "no_norm", "pad", "pad_v0"):
            OPTIONS.emphasis = "No norm" if setting == "no_norm" else "Original"
            both = parser.get_multicond_learned_conditioning(model, [prompt], STEPS)
            other = parser.get_learned_conditioning(model, [negative], STEPS)
            arrays[f"weights/{case}"] = np.array([part.weight for part in both.batch[0]])
            for step in range(STEPS if ":3]" in prompt or ":2]" in prompt else 1):
                _, positive = parser.reconstruct_multicond_batch(both, step)
                seen = parser.reconstruct_cond_batch(other, step)
                if setting in ("plain", "no_norm") or positive.shape[1] != seen.shape[1]:
                    pair = padded(setting, positive, seen, model)
                    arrays |= joined(f"{setting}/{case}/{step}", *pair)
    np.savez_compressed(FROZEN, **arrays)


def joined(key: str, positive: Any, negative: Any) -> dict[str, Any]:
    """Both in one array where they are equally long, else one each."""
    if positive.shape[1] == negative.shape[1]:
        return {key: torch.cat([positive, negative]).numpy()}
    return {f"{key}/positive": positive.numpy(), f"{key}/negative": negative.numpy()}


def padded(setting: str, positive: Any, negative: Any, model: Any) -> tuple[Any, Any]:
    """Pad prompts of unequal length as CFGDenoiser does."""
    denoiser = importlib.import_module("modules.sd_samplers_cfg_denoiser")
    empty = model.get_learned_conditioning([""])
    denoiser.shared.sd_model.cond_stage_model_empty_prompt = empty
    pads = {
        "pad": denoiser.CFGDenoiser.pad_cond_uncond,
        "pad_v0": denoiser.CFGDenoiser.pad_cond_uncond_v0,
    }
    if setting not in pads or positive.shape[1] == negative.shape[1]:
        return positive, negative
    return pads[setting](SimpleNamespace(), positive, negative)


def make_model(hijack: Any) -> Any:
    """A1111's text model around our tokenizer and the looked-up encoder."""
    tokenizer = load_clip_tokenizer()

    class Model(hijack.TextConditionalModel):
        def __init__(self) -> None:
            super().__init__()
            self.comma_token, self.id_start = tokenizer.comma_id, tokenizer.start_id
            self.id_end = self.id_pad = tokenizer.end_id

        def tokenize(self, texts: list[str]) -> list[list[int]]:
            return [tokenizer.encode(text) for text in texts]

        def encode_with_transformers(self, tokens: Any) -> Any:
            return torch.from_numpy(look_up(tokens.numpy()))

    model = Model()
    model.get_learned_conditioning = model.forward
    return model


def prepare(checkout: Path) -> None:
    """Make `import modules.x` load the checkout's file, with stand-ins for what is left out."""
    package = ModuleType("modules")
    package.__path__ = [str(checkout / "modules")]
    sys.modules["modules"] = package
    shared = MagicMock(opts=OPTIONS)
    embeddings = SimpleNamespace(find_embedding_at_position=lambda *_: (None, None))
    hijack = MagicMock(
        model_hijack=SimpleNamespace(embedding_db=embeddings, extra_generation_params={})
    )
    devices = MagicMock(device=torch.device("cpu"))
    stand_ins = {"shared": shared, "sd_hijack": hijack, "devices": devices}
    for name in ("script_callbacks", "sd_samplers_common"):
        stand_ins[name] = MagicMock()
    for name, module in stand_ins.items():
        sys.modules[f"modules.{name}"] = module
        setattr(package, name, module)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
