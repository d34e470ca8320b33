"""Freezes what ComfyUI's denoiser attends to, by running its own modules over `lookup`.

    python -m tests.pipeline.freeze_comfy CHECKOUT

in the oracle environment, where CHECKOUT is comfyanonymous/ComfyUI, commit
a125cd84b054a57729b5eecab930ca9408719832. einops, which it does not use here, is replaced.

comfy_prompts.npz holds by case of `lookup.COMFY` the prompt and the negative prompt as the denoiser
gets them in one batch.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.pipeline.lookup import COMFY, look_up

FROZEN = Path(__file__).parent / "frozen" / "comfy_prompts.npz"


def main(checkout: Path) -> None:
    """Write the file."""
    sys.argv = ["comfy", "--cpu"]
    sys.path.insert(0, str(checkout))
    sys.modules["einops"] = MagicMock()
    importlib.import_module("comfy.options").enable_args_parsing()
    clip = importlib.import_module("comfy.sd1_clip")
    conds = importlib.import_module("comfy.conds")

    class Encoder(clip.ClipTokenWeightEncoder):
        def __init__(self) -> None:
            self.special_tokens = {"start": 49406, "end": 49407, "pad": 49407}

        def encode(self, tokens: Any) -> Any:
            return torch.from_numpy(look_up(np.array(tokens))), None

    tokenizer, encoder = clip.SDTokenizer(), Encoder()

    def encode(text: str) -> Any:
        return encoder.encode_token_weights(tokenizer.tokenize_with_weights(text))[0]

    arrays = {}
    for case, texts in enumerate(COMFY):
        positive, negative = (conds.CONDCrossAttn(encode(text)) for text in texts)
        arrays[str(case)] = positive.concat([negative]).numpy()
    np.savez_compressed(FROZEN, **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
