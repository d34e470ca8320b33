"""A whole Flux.1 pipeline of some megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch
import transformers
from tokenizers import processors

from engine.text.t5_tokenizer import load_t5_tokenizer
from tests.oracle.sdxl_folder import NARROW, text_model
from tests.tiny_checkpoint import write_tokenizer

CONTEXT = 40
DEV = {
    "base_image_seq_len": 256,
    "base_shift": 0.5,
    "max_image_seq_len": 4096,
    "max_shift": 1.15,
    "shift": 3.0,
    "use_dynamic_shifting": True,
}
SCHNELL = {"shift": 1.0, "use_dynamic_shifting": False}


def write_pipeline(
    folder: Path,
    kind: type = diffusers.FluxPipeline,
    *,
    takes_guidance: bool = True,
    in_channels: int = 64,
) -> Path:
    """The whole pipeline of dev, or of schnell without guidance as an input.

    Variants of dev take a picture beside the latent: their pipelines are of another `kind`, and a
    token has more numbers.
    """
    torch.manual_seed(0)
    pipe = kind(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**DEV if takes_guidance else SCHNELL),
        vae=_vae(),
        text_encoder=text_model(NARROW, projects=False),
        tokenizer=_words(folder / "words"),
        text_encoder_2=_t5(),
        tokenizer_2=_pieces(),
        transformer=_transformer(takes_guidance=takes_guidance, in_channels=in_channels),
    )
    pipe.save_pretrained(folder / "flux")
    return folder / "flux"


def _transformer(*, takes_guidance: bool, in_channels: int):
    module = diffusers.FluxTransformer2DModel(
        in_channels=in_channels,
        out_channels=64,
        num_layers=2,
        num_single_layers=2,
        attention_head_dim=32,
        num_attention_heads=2,
        joint_attention_dim=CONTEXT,
        pooled_projection_dim=NARROW,
        guidance_embeds=takes_guidance,
        axes_dims_rope=(4, 14, 14),
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.1 * torch.randn(tensor.shape))
        elif "embedder" in name or "norm" in name:
            tensor.data.mul_(3)  # so that prompt, guidance and timestep show
    return module


def _t5(width: int = CONTEXT):
    config = transformers.T5Config(
        vocab_size=32128,
        d_model=width,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
    )
    return transformers.T5EncoderModel(config).eval()


def _pieces():
    """T5's tokenizer, which ends each text."""
    unigram = load_t5_tokenizer()._unigram
    pieces = transformers.PreTrainedTokenizerFast(
        tokenizer_object=unigram, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    pieces.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return pieces


def _words(folder: Path):
    write_tokenizer(folder, "<|endoftext|>")
    return transformers.CLIPTokenizer.from_pretrained(folder)


def _vae(scale: float = 0.3611, shift: float = 0.1159):
    return diffusers.AutoencoderKL(
        block_out_channels=(32, 32, 64, 64),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        norm_num_groups=32,
        latent_channels=16,
        scaling_factor=scale,
        shift_factor=shift,
        use_quant_conv=False,
        use_post_quant_conv=False,
        sample_size=64,
        force_upcast=True,
    ).eval()
