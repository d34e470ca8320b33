"""A whole SDXL pipeline of a few megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch
import transformers

from tests.tiny_checkpoint import write_tokenizer

NARROW, WIDE, PROJECTED = 32, 48, 40
WAVES = 8
_SIZES = 6
_START, _END, _WORDS = 60, 61, 100


def text_model(width: int, *, projects: bool):
    """A CLIP text model of three layers, with embeddings as large as trained ones'."""
    kind = transformers.CLIPTextModelWithProjection if projects else transformers.CLIPTextModel
    module = kind(
        transformers.CLIPTextConfig(
            vocab_size=_WORDS,
            hidden_size=width,
            intermediate_size=2 * width,
            num_hidden_layers=3,
            num_attention_heads=4,
            projection_dim=PROJECTED,
            hidden_act="gelu" if projects else "quick_gelu",
            bos_token_id=_START,
            eos_token_id=_END,
            pad_token_id=0,
        )
    ).eval()
    for name, tensor in module.named_parameters():
        if "embedding" in name:
            tensor.data.normal_(0, 0.3)
    return module


def unet_module(**changes):
    """SDXL's UNet, small; `changes` are fields of its configuration."""
    sizes = {
        "block_out_channels": (32, 64),
        "layers_per_block": 2,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
        "attention_head_dim": (2, 4),
        "transformer_layers_per_block": (1, 2),
        "norm_num_groups": 16,
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": WAVES,
        "projection_class_embeddings_input_dim": PROJECTED + _SIZES * WAVES,
        "cross_attention_dim": NARROW + WIDE,
        "sample_size": 32,
    }
    return diffusers.UNet2DConditionModel(**{**sizes, **changes}).eval()


def write_pipeline(folder: Path, unet=None, **scheduler) -> Path:
    """The whole pipeline, with a UNet of SDXL's or this one."""
    torch.manual_seed(0)
    for name, pad in (("tokenizer", "<|endoftext|>"), ("tokenizer_2", "a")):
        write_tokenizer(folder / "words" / name, pad)
    words = {
        name: transformers.CLIPTokenizer.from_pretrained(folder / "words" / name)
        for name in ("tokenizer", "tokenizer_2")
    }
    vae = diffusers.AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=16,
        latent_channels=4,
        scaling_factor=0.13025,
        sample_size=64,
    ).eval()
    levels = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    pipe = diffusers.StableDiffusionXLPipeline(
        vae=vae,
        text_encoder=text_model(NARROW, projects=False),
        text_encoder_2=text_model(WIDE, projects=True),
        **words,
        unet=unet or unet_module(),
        scheduler=diffusers.EulerDiscreteScheduler(
            **levels, timestep_spacing="linspace", steps_offset=1, **scheduler
        ),
        add_watermarker=False,
    )
    pipe.save_pretrained(folder / "sdxl")
    return folder / "sdxl"
