"""A whole pipeline of FLUX.2 klein of some megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch
import transformers

from tests.oracle.zimage_folder import _words

_STATES = 24
_SHIFTED = {"shift": 3.0, "use_dynamic_shifting": True}


def write_pipeline(folder: Path, name: str = "FLUX.2-klein-4B") -> Path:
    """The whole pipeline of the distilled model, or of base under its name."""
    torch.manual_seed(0)
    pipe = diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**_SHIFTED),
        vae=_vae(),
        text_encoder=_qwen3(),
        tokenizer=_words(),
        transformer=_transformer(),
        is_distilled="base" not in name,
    )
    pipe.save_pretrained(folder / name)
    return folder / name


def _transformer():
    module = diffusers.Flux2Transformer2DModel(
        in_channels=32,
        num_layers=2,
        num_single_layers=2,
        attention_head_dim=32,
        num_attention_heads=2,
        joint_attention_dim=3 * _STATES,
        axes_dims_rope=(8, 8, 8, 8),
        guidance_embeds=False,
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.1 * torch.randn(tensor.shape))
        elif "embed" in name or "modulation" in name:
            tensor.data.mul_(3)  # so that prompt and timestep show
    return module


def _vae():
    module = diffusers.AutoencoderKLFlux2(
        block_out_channels=(32, 32, 64, 64),
        layers_per_block=1,
        norm_num_groups=32,
        latent_channels=8,
        sample_size=64,
    ).eval()
    module.bn.running_mean.normal_(0, 0.3)
    module.bn.running_var.uniform_(0.3, 3)
    return module


def _qwen3():
    """A narrow decoder as deep as the states of its 27th layer need."""
    config = transformers.Qwen3Config(
        vocab_size=151_936,
        hidden_size=_STATES,
        intermediate_size=32,
        num_hidden_layers=28,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        rope_theta=1_000_000.0,
        tie_word_embeddings=True,
    )
    module = transformers.Qwen3ForCausalLM(config).eval()
    for name, tensor in module.named_parameters():
        if "embed_tokens" in name:
            tensor.data.mul_(50)
        elif tensor.ndim == 2:
            tensor.data.mul_(5)
    return module
