"""Listings of what SD 1.x must not be mistaken for, as far as that can be told from SD 1.x."""

from tests.families.listings import (
    Listing,
    affine,
    ldm_unet,
    prefixed,
)


def aura_flow() -> Listing:
    """AuraFlow, a transformer with two streams that no family runs."""
    return {
        "double_layers.0.attn.w1q.weight": (3072, 3072),
        "double_layers.0.attn.w2q.weight": (3072, 3072),
        "single_layers.0.attn.w1q.weight": (3072, 3072),
    }


def flux(prefix: str = "") -> Listing:
    """Flux.1 dev."""
    names: Listing = {}
    names |= affine("img_in", 3072, 64) | affine("txt_in", 3072, 4096)
    names |= affine("guidance_in.in_layer", 3072, 256)
    names |= affine("vector_in.in_layer", 3072, 768)
    for block in range(19):
        for stream in ("img", "txt"):
            names |= affine(f"double_blocks.{block}.{stream}_attn.qkv", 9216, 3072)
            names |= affine(f"double_blocks.{block}.{stream}_attn.proj", 3072, 3072)
            names[f"double_blocks.{block}.{stream}_attn.norm.key_norm.scale"] = (128,)
    for block in range(38):
        names |= affine(f"single_blocks.{block}.linear1", 21504, 3072)
    return prefixed(prefix, names)


def flux2() -> Listing:
    """FLUX.2 dev: modulation shared by all blocks, and guidance as an input."""
    return {
        **flux(),
        "double_stream_modulation_img.lin.weight": (36864, 6144),
        "txt_in.weight": (6144, 15360),
    }


def kohya_lora() -> Listing:
    """An SD 1.x LoRA by kohya's scripts."""
    names: Listing = {}
    for target, width in (("attn1_to_q", 320), ("attn2_to_k", 768)):
        name = f"lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_{target}"
        names[f"{name}.lora_down.weight"] = (8, width)
        names[f"{name}.lora_up.weight"] = (320, 8)
        names[f"{name}.alpha"] = ()
    return names


def lycoris(*endings: str) -> Listing:
    """A network of LyCORIS for SD 1.x, of the kind whose tensors end so."""
    targets = ("down_blocks_0_attentions_0_proj_in", "mid_block_attentions_0_proj_out")
    return {f"lora_unet_{target}{ending}": (8, 320) for target in targets for ending in endings}


def peft_flux_lora() -> Listing:
    """A Flux LoRA under PEFT's names."""
    name = "transformer.single_transformer_blocks.0.attn.to_q"
    return {f"{name}.lora_A.weight": (16, 3072), f"{name}.lora_B.weight": (3072, 16)}


def controlnet() -> Listing:
    """An SD 1.x ControlNet in the original layout: half a UNet and a hint encoder."""
    half = {
        name: shape
        for name, shape in ldm_unet().items()
        if not name.startswith(("output_blocks", "out."))
    }
    names = half | affine("input_hint_block.0", 16, 3, 3, 3)
    names |= affine("zero_convs.0.0", 320, 320, 1, 1)
    return prefixed("control_model.", names)


def embedding() -> Listing:
    """A textual inversion embedding of 8 vectors."""
    return {"emb_params": (8, 768)}


def sdxl_embedding() -> Listing:
    """A textual inversion embedding for SDXL's two encoders."""
    return {"clip_l": (4, 768), "clip_g": (4, 1280)}


def ip_adapter() -> Listing:
    """An IP-Adapter for SD 1.x."""
    names = affine("image_proj.proj", 3072, 1024)
    return names | {f"ip_adapter.{n}.to_k_ip.weight": (320, 768) for n in (1, 3, 5)}


def t5() -> Listing:
    """The encoder of T5 XXL."""
    return {
        "shared.weight": (32128, 4096),
        **{f"encoder.block.{n}.layer.0.SelfAttention.q.weight": (4096, 4096) for n in range(24)},
    }
