"""Tensor listings of the layouts seen in the wild, built as the original code builds its networks.

`tests/oracle/test_checkpoint_layouts.py` proves them against diffusers. `other_listings` has what
SD 1.x must not be mistaken for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

Shape = tuple[int, ...]
Listing = dict[str, Shape]

UNET = "model.diffusion_model."
VAE = "first_stage_model."
CLIP = "cond_stage_model.transformer."
XL_CLIP = "conditioner.embedders.0.transformer."
XL_OPEN_CLIP = "conditioner.embedders.1.model."


@dataclass(frozen=True)
class UNetSizes:
    """The arguments of the original `UNetModel`."""

    width: int = 320
    multipliers: tuple[int, ...] = (1, 2, 4, 4)
    blocks: int = 2
    # Transformer blocks at each level.
    depths: tuple[int, ...] = (1, 1, 1, 0)
    # The same for each block on the way up, from the lowest level, where it is not as on the way
    # down.
    up_depths: tuple[int, ...] | None = None
    # -1 for a single residual block in the middle, -2 for none.
    middle_depth: int = 1
    context: int = 768
    in_channels: int = 4
    out_channels: int = 4
    linear: bool = False
    # Width of the pooled embedding added to the time, 0 for none.
    added: int = 0


@dataclass(frozen=True)
class VaeSizes:
    """The `ddconfig` of the original autoencoder."""

    width: int = 128
    multipliers: tuple[int, ...] = (1, 2, 4, 4)
    blocks: int = 2
    latent: int = 4


@dataclass(frozen=True)
class ClipSizes:
    """The sizes of a CLIP text model."""

    width: int = 768
    layers: int = 12
    vocabulary: int = 49408


SD1 = UNetSizes()
SMALL_UNET = UNetSizes(
    width=32, multipliers=(1, 2, 3), blocks=1, depths=(0, 1, 1), context=64, in_channels=4
)
SMALL_VAE = VaeSizes(width=32, multipliers=(1, 2), blocks=1)
# As large as a picture is to its latent in every family.
EIGHTFOLD_VAE = VaeSizes(width=32, multipliers=(1, 1, 1, 1), blocks=1)
FLOW_VAE = replace(EIGHTFOLD_VAE, latent=16)
SMALL_SDXL = UNetSizes(
    width=32,
    multipliers=(1, 2),
    depths=(0, 2),
    middle_depth=2,
    context=64 + 96,
    linear=True,
    added=96 + 6 * 16,
)
SMALL_OPEN_CLIP = ClipSizes(width=96, layers=3, vocabulary=100)
SMALL_CLIP = ClipSizes(width=64, layers=2, vocabulary=100)


def affine(name: str, *weight: int) -> Listing:
    """A weight of this shape, and the bias that goes with it."""
    return {f"{name}.weight": weight, f"{name}.bias": weight[:1]}


def prefixed(prefix: str, listing: Listing) -> Listing:
    """A listing as a part of another."""
    return {prefix + name: shape for name, shape in listing.items()}


# --- the original layout ---


def ldm_unet(sizes: UNetSizes = SD1) -> Listing:
    """`UNetModel` of the latent-diffusion code, without a prefix."""
    names: Listing = {}
    time = 4 * sizes.width
    names |= affine("time_embed.0", time, sizes.width) | affine("time_embed.2", time, time)
    if sizes.added:
        names |= affine("label_emb.0.0", time, sizes.added)
        names |= affine("label_emb.0.2", time, time)
    names |= affine("input_blocks.0.0", sizes.width, sizes.in_channels, 3, 3)
    skips = [sizes.width]
    width, block = sizes.width, 1
    for level, multiplier in enumerate(sizes.multipliers):
        for _ in range(sizes.blocks):
            place = f"input_blocks.{block}"
            names |= _ldm_resnet(f"{place}.0", width, sizes.width * multiplier, time)
            width = sizes.width * multiplier
            names |= _transformer(f"{place}.1", width, sizes.depths[level], sizes)
            skips.append(width)
            block += 1
        if level < len(sizes.multipliers) - 1:
            names |= affine(f"input_blocks.{block}.0.op", width, width, 3, 3)
            skips.append(width)
            block += 1
    if sizes.middle_depth > -2:
        names |= _ldm_resnet("middle_block.0", width, width, time)
    if sizes.middle_depth > -1:
        names |= _transformer("middle_block.1", width, sizes.middle_depth, sizes)
        names |= _ldm_resnet("middle_block.2", width, width, time)
    names |= _ldm_up(sizes, skips, width, time)
    names |= affine("out.0", sizes.width)
    names |= affine("out.2", sizes.out_channels, sizes.width, 3, 3)
    return names


def _ldm_up(sizes: UNetSizes, skips: list[int], width: int, time: int) -> Listing:
    names: Listing = {}
    block = 0
    as_down = [depth for depth in reversed(sizes.depths) for _ in range(sizes.blocks + 1)]
    depths = sizes.up_depths or as_down
    for level, multiplier in reversed(list(enumerate(sizes.multipliers))):
        for layer in range(sizes.blocks + 1):
            place = f"output_blocks.{block}"
            wide = sizes.width * multiplier
            names |= _ldm_resnet(f"{place}.0", width + skips.pop(), wide, time)
            width = wide
            names |= _transformer(f"{place}.1", width, depths[block], sizes)
            if level and layer == sizes.blocks:
                last = 2 if depths[block] else 1
                names |= affine(f"{place}.{last}.conv", width, width, 3, 3)
            block += 1
    return names


def _ldm_resnet(name: str, width_in: int, width: int, time: int) -> Listing:
    names = affine(f"{name}.in_layers.0", width_in)
    names |= affine(f"{name}.in_layers.2", width, width_in, 3, 3)
    names |= affine(f"{name}.emb_layers.1", width, time)
    names |= affine(f"{name}.out_layers.0", width)
    names |= affine(f"{name}.out_layers.3", width, width, 3, 3)
    if width_in != width:
        names |= affine(f"{name}.skip_connection", width, width_in, 1, 1)
    return names


def _transformer(name: str, width: int, depth: int, sizes: UNetSizes) -> Listing:
    names: Listing = {}
    if not depth:
        return names
    ones = () if sizes.linear else (1, 1)
    names |= affine(f"{name}.norm", width)
    names |= affine(f"{name}.proj_in", width, width, *ones)
    names |= affine(f"{name}.proj_out", width, width, *ones)
    for index in range(depth):
        block = f"{name}.transformer_blocks.{index}"
        for norm in ("norm1", "norm2", "norm3"):
            names |= affine(f"{block}.{norm}", width)
        for attention, context in (("attn1", width), ("attn2", sizes.context)):
            names[f"{block}.{attention}.to_q.weight"] = (width, width)
            names[f"{block}.{attention}.to_k.weight"] = (width, context)
            names[f"{block}.{attention}.to_v.weight"] = (width, context)
            names |= affine(f"{block}.{attention}.to_out.0", width, width)
        names |= affine(f"{block}.ff.net.0.proj", 8 * width, width)
        names |= affine(f"{block}.ff.net.2", width, 4 * width)
    return names


def ldm_vae(sizes: VaeSizes = VaeSizes()) -> Listing:
    """`AutoencoderKL` of the latent-diffusion code, without a prefix."""
    names: Listing = {}
    widths = [sizes.width * multiplier for multiplier in sizes.multipliers]
    names |= affine("encoder.conv_in", widths[0], 3, 3, 3)
    width = widths[0]
    for level, wide in enumerate(widths):
        for block in range(sizes.blocks):
            names |= _vae_resnet(f"encoder.down.{level}.block.{block}", width, wide)
            width = wide
        if level < len(widths) - 1:
            names |= affine(f"encoder.down.{level}.downsample.conv", wide, wide, 3, 3)
    names |= _vae_ends("encoder", width, 2 * sizes.latent)
    names |= affine("decoder.conv_in", width, sizes.latent, 3, 3)
    for level, wide in reversed(list(enumerate(widths))):
        for block in range(sizes.blocks + 1):
            names |= _vae_resnet(f"decoder.up.{level}.block.{block}", width, wide)
            width = wide
        if level:
            names |= affine(f"decoder.up.{level}.upsample.conv", wide, wide, 3, 3)
    names |= _vae_ends("decoder", widths[-1], 3, out_from=width)
    names |= affine("quant_conv", 2 * sizes.latent, 2 * sizes.latent, 1, 1)
    names |= affine("post_quant_conv", sizes.latent, sizes.latent, 1, 1)
    return names


def flow_vae(sizes: VaeSizes = FLOW_VAE) -> Listing:
    """An autoencoder in the original layout, without convolutions around the latent, as Flux's."""
    return {name: shape for name, shape in ldm_vae(sizes).items() if "quant_conv" not in name}


def _vae_ends(part: str, width: int, out: int, out_from: int | None = None) -> Listing:
    """The middle, and what follows the last level."""
    names = _vae_resnet(f"{part}.mid.block_1", width, width)
    names |= _vae_resnet(f"{part}.mid.block_2", width, width)
    names |= affine(f"{part}.mid.attn_1.norm", width)
    for leaf in ("q", "k", "v", "proj_out"):
        names |= affine(f"{part}.mid.attn_1.{leaf}", width, width, 1, 1)
    last = width if out_from is None else out_from
    names |= affine(f"{part}.norm_out", last)
    names |= affine(f"{part}.conv_out", out, last, 3, 3)
    return names


def _vae_resnet(name: str, width_in: int, width: int) -> Listing:
    names = affine(f"{name}.norm1", width_in)
    names |= affine(f"{name}.conv1", width, width_in, 3, 3)
    names |= affine(f"{name}.norm2", width)
    names |= affine(f"{name}.conv2", width, width, 3, 3)
    if width_in != width:
        names |= affine(f"{name}.nin_shortcut", width, width_in, 1, 1)
    return names


def clip_text(sizes: ClipSizes = ClipSizes(), *, text_model: bool = True) -> Listing:
    """Hugging Face's CLIPTextModel."""
    width = sizes.width
    names: Listing = {
        "embeddings.token_embedding.weight": (sizes.vocabulary, width),
        "embeddings.position_embedding.weight": (77, width),
    }
    for layer in range(sizes.layers):
        place = f"encoder.layers.{layer}"
        for projection in ("q_proj", "k_proj", "v_proj", "out_proj"):
            names |= affine(f"{place}.self_attn.{projection}", width, width)
        names |= affine(f"{place}.layer_norm1", width)
        names |= affine(f"{place}.layer_norm2", width)
        names |= affine(f"{place}.mlp.fc1", 4 * width, width)
        names |= affine(f"{place}.mlp.fc2", width, 4 * width)
    names |= affine("final_layer_norm", width)
    return prefixed("text_model.", names) if text_model else names


BIG_CLIP = ClipSizes(width=1280, layers=32)


def t5_encoder(width: int, heads: int = 4, head: int = 8, layers: int = 2) -> Listing:
    """T5 v1.1's encoder, small, with the words of all sizes."""
    inner = heads * head
    names: Listing = {"shared.weight": (32128, width), "encoder.final_layer_norm.weight": (width,)}
    for layer in range(layers):
        block = f"encoder.block.{layer}.layer"
        names |= {f"{block}.0.SelfAttention.{part}.weight": (inner, width) for part in "qkv"}
        names[f"{block}.0.SelfAttention.o.weight"] = (width, inner)
        names |= {
            f"{block}.1.DenseReluDense.{part}.weight": (64, width) for part in ("wi_0", "wi_1")
        }
        names[f"{block}.1.DenseReluDense.wo.weight"] = (width, 64)
        names |= {f"{block}.{place}.layer_norm.weight": (width,) for place in (0, 1)}
    bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    return names | {bias: (32, heads)}


def open_clip(sizes: ClipSizes = BIG_CLIP) -> Listing:
    """OpenCLIP's text transformer, as SD 2 and SDXL have it."""
    width = sizes.width
    names: Listing = {
        "positional_embedding": (77, width),
        "token_embedding.weight": (sizes.vocabulary, width),
        "text_projection": (width, width),
        "logit_scale": (),
    }
    for layer in range(sizes.layers):
        place = f"transformer.resblocks.{layer}"
        names[f"{place}.attn.in_proj_weight"] = (3 * width, width)
        names[f"{place}.attn.in_proj_bias"] = (3 * width,)
        names |= affine(f"{place}.attn.out_proj", width, width)
        names |= affine(f"{place}.ln_1", width) | affine(f"{place}.ln_2", width)
        names |= affine(f"{place}.mlp.c_fc", 4 * width, width)
        names |= affine(f"{place}.mlp.c_proj", width, 4 * width)
    return names | affine("ln_final", width)


SD2 = UNetSizes(context=1024, linear=True)
SDXL = UNetSizes(
    multipliers=(1, 2, 4),
    depths=(0, 2, 10),
    middle_depth=10,
    context=2048,
    linear=True,
    added=2816,
)
# As `comfy/model_detection.py` lists them.
PRUNED_SDXL = {
    "SSD-1B": replace(
        SDXL, depths=(0, 2, 4), up_depths=(4, 4, 10, 2, 1, 1, 0, 0, 0), middle_depth=-1
    ),
    "Segmind Vega": replace(
        SDXL, depths=(0, 1, 2), up_depths=(2, 2, 2, 1, 1, 1, 0, 0, 0), middle_depth=-1
    ),
    "KOALA-700M": replace(SDXL, blocks=1, depths=(0, 2, 5), middle_depth=-2),
    "KOALA-1B": replace(SDXL, blocks=1, depths=(0, 2, 6), middle_depth=6),
}
REFINER = UNetSizes(
    width=384, depths=(0, 4, 4, 0), middle_depth=4, context=1280, linear=True, added=2560
)


def sd2(unet: UNetSizes = SD2) -> Listing:
    """A whole SD 2.x checkpoint in the original layout."""
    return (
        prefixed(UNET, ldm_unet(unet))
        | prefixed(VAE, ldm_vae())
        | prefixed("cond_stage_model.model.", open_clip(ClipSizes(width=1024, layers=24)))
    )


def sdxl(
    unet: UNetSizes = SDXL,
    vae: VaeSizes = VaeSizes(),
    clip: ClipSizes = ClipSizes(),
    big: ClipSizes = BIG_CLIP,
) -> Listing:
    """A whole SDXL checkpoint in the original layout."""
    return (
        prefixed(UNET, ldm_unet(unet))
        | prefixed(VAE, ldm_vae(vae))
        | prefixed(XL_CLIP, clip_text(clip))
        | prefixed(XL_OPEN_CLIP, open_clip(big))
    )


def sdxl_refiner() -> Listing:
    """The SDXL refiner in the original layout."""
    return (
        prefixed(UNET, ldm_unet(REFINER))
        | prefixed(VAE, ldm_vae())
        | prefixed("conditioner.embedders.0.model.", open_clip())
    )


def original(
    unet: UNetSizes = SD1,
    vae: VaeSizes = VaeSizes(),
    clip: ClipSizes = ClipSizes(),
    *,
    text_model: bool = True,
) -> Listing:
    """A whole SD 1.x checkpoint in the original layout."""
    return (
        prefixed(CLIP, clip_text(clip, text_model=text_model))
        | prefixed(VAE, ldm_vae(vae))
        | prefixed(UNET, ldm_unet(unet))
    )


def leftovers(unet: Mapping[str, Shape]) -> Listing:
    """Tensors left by training: the average, the noise schedule, buffers, the loss."""
    average = {
        "model_ema.diffusion_model" + name.removeprefix(UNET).replace(".", ""): shape
        for name, shape in unet.items()
        if name.startswith(UNET)
    }
    schedule = ("betas", "alphas_cumprod", "alphas_cumprod_prev", "sqrt_alphas_cumprod")
    return {
        **average,
        **dict.fromkeys(schedule, (1000,)),
        "model_ema.decay": (),
        "model_ema.num_updates": (),
        f"{CLIP}text_model.embeddings.position_ids": (1, 77),
        f"{CLIP}text_projection.weight": (768, 768),
        "cond_stage_model.logit_scale": (),
        f"{CLIP}vision_model.post_layernorm.weight": (1024,),
        f"{VAE}loss.logvar": (),
        f"{VAE}loss.discriminator.main.0.weight": (64, 3, 4, 4),
        "optimizer_states.0.exp_avg": (10,),
    }
