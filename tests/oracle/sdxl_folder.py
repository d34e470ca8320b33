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
    pipe = diffusers.StableDiffusionXLPipeline(
        vae=_vae(0.13025),
        text_encoder=text_model(NARROW, projects=False),
        text_encoder_2=text_model(WIDE, projects=True),
        tokenizer=_words(folder / "words", "<|endoftext|>"),
        tokenizer_2=_words(folder / "words_2", "a"),
        unet=unet or unet_module(),
        scheduler=_scheduler(**scheduler),
        add_watermarker=False,
    )
    pipe.save_pretrained(folder / "sdxl")
    return folder / "sdxl"


def write_refiner(folder: Path, **scheduler) -> Path:
    """The refiner of such a pipeline: bigG alone, and an aesthetic score for the last two sizes."""
    torch.manual_seed(1)
    unet = unet_module(
        cross_attention_dim=WIDE, projection_class_embeddings_input_dim=PROJECTED + 5 * WAVES
    )
    unet.conv_out.weight.data *= 8  # so that a few steps of it show
    pipe = diffusers.StableDiffusionXLImg2ImgPipeline(
        vae=_vae(0.13025),
        text_encoder=None,
        text_encoder_2=text_model(WIDE, projects=True),
        tokenizer=None,
        tokenizer_2=_words(folder / "refiner_words", "a"),
        unet=unet,
        scheduler=_scheduler(**scheduler),
        requires_aesthetics_score=True,
        force_zeros_for_empty_prompt=False,
        add_watermarker=False,
    )
    pipe.save_pretrained(folder / "refiner")
    return folder / "refiner"


def write_sd2_pipeline(folder: Path, in_channels: int = 4, **scheduler) -> Path:
    """An SD 2 pipeline: linear projections, OpenCLIP's activation, filled up with token 0."""
    torch.manual_seed(0)
    text = text_model(WIDE, projects=True)
    encoder = transformers.CLIPTextModel(text.config)
    encoder.load_state_dict(_without_projection(text.state_dict(), encoder.state_dict()))
    sizes = {
        "addition_embed_type": None,
        "cross_attention_dim": WIDE,
        "in_channels": in_channels,
    }
    pipe = diffusers.StableDiffusionPipeline(
        vae=_vae(0.18215),
        text_encoder=encoder,
        tokenizer=_words(folder / "words", "a"),
        unet=unet_module(**sizes, transformer_layers_per_block=1),
        scheduler=_scheduler(**scheduler),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipe.save_pretrained(folder / "sd2")
    return folder / "sd2"


def _without_projection(weights: dict, wanted: dict) -> dict:
    prefix = "" if any(name.startswith("text_model.") for name in wanted) else "text_model."
    return {name: weights[prefix + name] for name in wanted}


def _words(folder: Path, pad: str):
    write_tokenizer(folder, pad)
    return transformers.CLIPTokenizer.from_pretrained(folder)


def _vae(scale: float):
    return diffusers.AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=16,
        latent_channels=4,
        scaling_factor=scale,
        sample_size=64,
    ).eval()


def _scheduler(**options):
    levels = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    return diffusers.EulerDiscreteScheduler(
        **levels, timestep_spacing="linspace", steps_offset=1, **options
    )
