"""Rules that recognise files used with checkpoints: adapters, encoders, VAEs, upscalers.

Upscalers and restorers have the tensor names that spandrel looks for. Specific rows come before
general ones, because the first matching row counts.
"""

import re

from engine.families.foreign_kind import ForeignKind, LonePart, Sign
from engine.families.qwen3_sizes import PUBLISHED_SIZES

_CONTROLNET = (
    "input_hint_block.",
    "controlnet_cond_embedding.",
    "controlnet_blocks.",
    "controlnet_down_blocks.",
    "controlnet_x_embedder.",
    "control_blocks.0.before_proj.",
    "control_all_x_embedder.",
    "control_layers.0.",
)
# The vectors of a textual inversion, under any name but those of layers' weights and biases.
_WORDS = re.compile(
    r"\A(\n(?![^\n]*\.(weight|bias) )[^\n]* \[(\d+,)?(768|1024|1280|2048|4096)\]){1,500}\n\Z"
)
_FEW_VECTORS = re.compile(r"\A(\n[^\n]* \[(\d+,)?(768|1024|1280|2048|4096)\]){1,3}\n\Z")

# LoRA files, in all dialects; `engine.families.lora_purpose` tells what they are for.
LORA = (
    ForeignKind(
        "a LoRA",
        (
            ".lora_down.",
            ".lora_A.",
            ".lora.down.",
            "_lora.down.",
            ".lora_linear_layer.down.",
            "_lora1.down.",
        ),
    ),
    # LoHa, LoKr, Diag-OFT and BOFT, (IA)^3, GLoRA, whole differences and norms, as LyCORIS names
    # them; OFT as OneTrainer and PEFT do.
    ForeignKind(
        "a LyCORIS LoRA",
        (
            ".hada_w1_a [",
            ".lokr_w1",
            ".oft_blocks [",
            ".oft_diag [",
            ".on_input [",
            ".a1.weight [",
            ".diff [",
            ".w_norm [",
            ".oft_R.",
        ),
    ),
)

ADAPTERS = (
    ForeignKind("a ControlNet-LLLite", ("\nlllite_",)),
    # Stability AI's: low-rank changes of a checkpoint's encoder, and the layers for the hint.
    ForeignKind(
        "a control-LoRA, which is a ControlNet",
        ("\nlora_controlnet [", ("\ninput_hint_block.", ".in_layers.2.down [")),
    ),
    ForeignKind("a ControlNet", _CONTROLNET, beside_checkpoint=True),
    ForeignKind("a BrushNet", ("brushnet_down_blocks.",), beside_checkpoint=True),
    ForeignKind("an AnimateDiff motion module", ("motion_modules.",), beside_checkpoint=True),
    ForeignKind("a T2I adapter", ("\nadapter.body.0.", "\nbody.0.in_conv.", "\nbody.0.block1.")),
    # Changes of layers by the names of Forge's own patches (sd-forge-layerdiffuse).
    ForeignKind("a LayerDiffuse adapter", ("::lora::0 [", "::diff::0 [")),
    ForeignKind("a T2I style adapter", ("\nstyle_embedding [", "transformer_layes.0.")),
    ForeignKind("a PhotoMaker adapter", ("\nid_encoder.",)),
    ForeignKind("a PuLID adapter", ("\npulid_encoder.", "\npulid_ca.")),
    ForeignKind(
        "an IP-Adapter",
        (
            "\nip_adapter",
            "\nimage_proj.",
            "ip_adapter_double_stream_k_proj.",
            "\nimage_proj_model.",
        ),
    ),
    ForeignKind("a Flux Redux adapter", ("\nredux_up.weight [",)),
    ForeignKind(
        "a hypernetwork",
        tuple(
            f"\n{width}.{place}.linear" for width in (320, 640, 768, 1024, 1280) for place in (0, 1)
        ),
    ),
    ForeignKind("a textual inversion embedding", ("\nstring_to_param.",)),
    ForeignKind("a textual inversion embedding", patterns=(_WORDS,)),
    ForeignKind("a textual inversion embedding", patterns=(_FEW_VECTORS,)),
    *LORA,
)

_UPSCALERS: tuple[Sign, ...] = (
    # ESRGAN, in its three layouts.
    "RRDB_trunk.",
    "body.0.rdb1.",
    "sub.0.RDB1.",
    # SwinIR, HAT, DRCT, DAT and their relatives.
    "conv_before_upsample.",
    "layers.0.residual_group.",
    "layers.0.swin1.attn.",
    "\nbefore_RG.1.",
    # SPAN, PLKSR, OmniSR, SAFMN, MoSR, Real-CUGAN, SeemoRe, DITN, waifu2x.
    "block_1.c1_r.",
    "feats.1.lk.",
    "residual_layer.0.residual_layer.",
    "feats.0.safm.",
    "\ngblocks.0.",
    "unet1.conv_bottom.",
    "UFONE.0.ITLs.",
    # RCAN, EDSR and IPT, GRL, FDAT, MoESR, SeemoRe, FeMaSR and AdaCode, SwiftSRGAN, DCTLSA, AuraSR.
    ("\nsub_mean.weight [", "\nadd_mean.weight ["),
    "\nnorm_start.weight [",
    "\ngroups.0.blocks.0.",
    "\nin_to_dim.",
    "body.0.local_block.",
    "multiscale_encoder.in_conv.",
    "residual.0.block1.cnn.",
    ".transformer_body.0.",
    "\nfinal_to_rgb.weight [",
)
# Real-ESRGAN's compact network: convolutions that alternate with the slopes of PReLU.
_COMPACT = (
    re.compile(r"\nbody\.0\.weight \[\d+,\d+,3,3\]"),
    re.compile(r"\nbody\.1\.weight \[\d+\]"),
)
# FBCNN, SCUNet and DRUNet, Restormer and KBNet, NAFNet, Uformer, MIRNet, MPRNet, RetinexFormer.
_RESTORERS = (
    "\nm_down1.0.",
    "\nencoder_level1.0.",
    "\nmiddle_blks.0.",
    "\nintro.weight [",
    "\nencoderlayer_0.",
    ".dau_top.",
    "\nshallow_feat1.0.",
    "\nHVE_block0.",
    "\nbody.0.estimator.",
)

# A tiny VAE of diffusers' layout, as ComfyUI saves it, and in a file for each side.
_TINY_VAE = ("coder.layers.0.weight [", "\ntaesd_decoder.1.", "\n3.conv.0.weight [")

# Kernels for pictures have four dimensions, kernels for videos five.
_VIDEO_CONVOLUTION = re.compile(r"coder\.conv(_in|1)\.weight \[(\d+,){4}\d+\]")


def _qwen3(name: str, shape: str = "") -> ForeignKind:
    """Return the row of a Qwen3 decoder; `shape` is that of its first MLP's weight, "" for any."""
    return ForeignKind(
        f"a {name} text encoder",
        (("layers.0.self_attn.q_norm.weight [", f"layers.0.mlp.gate_proj.weight [{shape}"),),
        without=("pre_feedforward_layernorm.", "vision", "visual"),
        part=LonePart.QWEN3_TEXT_ENCODER,
    )


PARTS = (
    ForeignKind("a safety checker", ("concept_embeds_weights [",)),
    ForeignKind("a face restorer (GFPGAN)", ("stylegan_decoder.style_",)),
    ForeignKind("a face restorer (CodeFormer)", ("\nidx_pred_layer.",)),
    ForeignKind(
        "a face restorer (RestoreFormer)",
        (("quantize.embedding.weight [", "decoder.mid.attn_1."),),
        patterns=(re.compile(r"encoder\.conv_in\.weight \[64,3,3,3\]"),),
    ),
    ForeignKind("an upscaler", _UPSCALERS),
    ForeignKind("an upscaler", patterns=_COMPACT),
    ForeignKind(
        "a segmentation model (SAM)",
        ("image_encoder.blocks.0.attn.rel_pos_h [", "detector.backbone.vision_backbone."),
    ),
    ForeignKind("a detector (YOLO)", (".dfl.conv.weight [",)),
    ForeignKind("a picture restorer", _RESTORERS),
    ForeignKind("an inpainting network (LaMa, MAT)", (".ffc.convl2l.", ".first_stage.conv_first.")),
    ForeignKind("a colouriser (DDColor)", ("\nrefine_net.0.",)),
    ForeignKind("a latent upscaler (LTX)", (("\ninitial_conv.weight [", "\nupsampler."),)),
    ForeignKind("a vocoder", (("\nconv_pre.", "\nups.0."), "\nvocoder.")),
    ForeignKind("an image projector", (("\nlatents [", "\nproj_in."),)),
    ForeignKind("an audio encoder", ("wav2vec2.",)),
    ForeignKind("a depth estimator", ("scratch.refinenet1.",)),
    # Autoencoders.
    ForeignKind("a Hunyuan3D VAE", ("geo_decoder.",)),
    ForeignKind("a consistency decoder", ("\ndecoder_unet.",)),
    ForeignKind("an asymmetric VAE", ("decoder.condition_encoder.",)),
    ForeignKind("an LTX VAE", ("per_channel_statistics.", "decoder.last_scale_shift_table [")),
    ForeignKind("a Wan or Qwen-Image VAE", ("decoder.middle.0.residual.0.gamma [",)),
    ForeignKind(
        "a Wan or Qwen-Image VAE",
        ("decoder.norm_out.gamma [",),
        without=("decoder.conv_in.conv",),
    ),
    ForeignKind(
        "a Kandinsky VAE", ("decoder.norm_out.conv_y.",), without=("decoder.conv_in.conv",)
    ),
    ForeignKind("a representation autoencoder (RAE)", ("decoder.decoder_embed.",)),
    ForeignKind(
        "a Stable Video Diffusion VAE",
        ("decoder.time_conv_out.", "decoder.mid.block_1.time_stack."),
    ),
    ForeignKind(
        "a video VAE",
        (
            "coder.conv_in.conv",
            "coder.temp_conv_in.",
            "coder.block_in.resnets.",
            "decoder.det_stages.",
        ),
    ),
    ForeignKind("a video VAE", patterns=(_VIDEO_CONVOLUTION,)),
    ForeignKind(
        "a Flux.2 VAE",
        (("\nbn.running_mean [", "decoder.conv_in."),),
        part=LonePart.FLUX2_VAE,
    ),
    ForeignKind("a DC-AE autoencoder", ("decoder.stages.0.", "encoder.project_in.")),
    ForeignKind(
        "a DC-AE autoencoder",
        (("decoder.up_blocks.0.", "decoder.norm_out.weight ["),),
        without=("mid_block.", "mid.block_1."),
    ),
    ForeignKind(
        "a VQ autoencoder", ("quantize.embedding.weight [", "vquantizer.codebook.weight [")
    ),
    ForeignKind(
        "an audio autoencoder",
        ("mel_converter.", "coder.snake1.", "decoder.layers.0.weight_g [", "decoder.conv_pre."),
    ),
    ForeignKind("a VAE", ("decoder.conv_in.weight [",), part=LonePart.VAE),
    # FLUX.2's has a normalisation beside some blocks.
    ForeignKind(
        "a tiny VAE (TAEF2)",
        tuple((sign, ".pool.1.weight [") for sign in _TINY_VAE),
        part=LonePart.TINY_VAE,
    ),
    ForeignKind("a tiny VAE (TAESD)", _TINY_VAE, part=LonePart.TINY_VAE),
    # Encoders, by the names of Hugging Face and OpenCLIP; UMT5, with places in each block, also by
    # the names of Wan's authors.
    ForeignKind(
        "a UMT5 text encoder",
        (
            "blocks.0.pos_embedding.embedding.weight [",
            "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight [",
        ),
    ),
    ForeignKind(
        "a CLIP text encoder",
        (".token_embedding.weight [", "\ntoken_embedding.weight ["),
        part=LonePart.CLIP_TEXT_ENCODER,
    ),
    ForeignKind(
        "a CLIP or SigLIP vision encoder",
        (
            "vision_model.encoder.layers.0.",
            "visual.transformer.resblocks.0.",
            "embeddings.patch_embedding.weight [",
            "\nv.blk.0.attn_",
        ),
    ),
    ForeignKind("a DINO vision encoder", ("embeddings.patch_embeddings.projection.",)),
    ForeignKind(
        "a T5 text encoder",
        ("encoder.block.0.layer.0.SelfAttention.q.weight [",),
        part=LonePart.T5_TEXT_ENCODER,
    ),
    ForeignKind("a BERT text encoder", ("embeddings.word_embeddings.weight [",)),
    # Queries are normalised by head in Qwen3 and its relatives; Gemma 3 has norms around its MLPs.
    *(_qwen3(name, f"{size.mlp_width},{size.width}]") for name, size in PUBLISHED_SIZES.items()),
    _qwen3("Qwen3"),
    ForeignKind(
        "a language model",
        (
            "model.layers.0.self_attn.q_proj.",
            "model.embed_tokens.weight [",
            "layers.0.attention.wq.weight [",
            # llama.cpp's, of all architectures that `gguf_names` does not rename.
            "\nblk.0.attn_",
        ),
    ),
)
