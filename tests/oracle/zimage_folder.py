"""A whole Z-Image pipeline of some megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch
import transformers

from engine.text.qwen_tokenizer import load_qwen_tokenizer
from tests.oracle.flux_folder import _vae

CONTEXT = 40
# Qwen3's template for one question, with an answer that begins, perhaps without thoughts.
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}"
)


def write_pipeline(folder: Path, name: str = "Z-Image-Turbo") -> Path:
    """The whole pipeline of Turbo, or of Base under its name."""
    torch.manual_seed(0)
    shift = 3.0 if "Turbo" in name else 6.0
    pipe = diffusers.ZImagePipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=shift),
        vae=_vae(),
        text_encoder=_qwen3(),
        tokenizer=_words(),
        transformer=_transformer(),
    )
    pipe.save_pretrained(folder / name)
    return folder / name


def _transformer():
    module = diffusers.ZImageTransformer2DModel(
        dim=96,
        n_layers=2,
        n_refiner_layers=1,
        n_heads=3,
        n_kv_heads=3,
        cap_feat_dim=CONTEXT,
        axes_dims=[8, 12, 12],
        axes_lens=[1024, 64, 64],
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1 or "pad_token" in name:
            tensor.data.add_(0.1 * torch.randn(tensor.shape))
        elif "adaLN" in name or "embedder" in name:
            tensor.data.mul_(3)  # so that prompt and timestep show
    return module


def _qwen3():
    config = transformers.Qwen3Config(
        vocab_size=151_936,
        hidden_size=CONTEXT,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        rope_theta=1_000_000.0,
    )
    module = transformers.Qwen3Model(config).eval()
    for name, tensor in module.named_parameters():
        if "embed_tokens" in name:
            tensor.data.mul_(50)
        elif tensor.ndim == 2:
            tensor.data.mul_(5)
    return module


def _words():
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=load_qwen_tokenizer()._pairs,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        padding_side="right",
    )
    words.chat_template = _TEMPLATE
    return words
