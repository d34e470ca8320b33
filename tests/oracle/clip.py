"""CLIP as transformers computes it: its own words, and a text encoder of two narrow layers."""
# pyright: basic, reportMissingImports=false
# torch and transformers are absent from the environment that is type-checked.

from pathlib import Path

import torch
import transformers

from tests.oracle.test_tokenizer import save_packaged


def small_clip(folder: Path):
    """A tokenizer, whose files are written to the folder, and a module of random weights.

    Its embeddings are as large as trained ones'.
    """
    torch.manual_seed(0)
    words = save_packaged(folder)
    tokenizer = transformers.CLIPTokenizer.from_pretrained(words, model_max_length=77)
    config = transformers.CLIPTextConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    )
    module = transformers.CLIPTextModel(config).eval()
    for name, tensor in module.named_parameters():
        if "embedding" in name:
            tensor.data.normal_(0, 0.3)
    return tokenizer, module
