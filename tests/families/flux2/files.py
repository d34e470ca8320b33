"""Listings of FLUX.2 klein's transformers and VAE, in Black Forest Labs' layout."""

from dataclasses import dataclass, replace

from tests.families import listings
from tests.families.listings import Listing, VaeSizes


@dataclass(frozen=True)
class Flux2Sizes:
    """The sizes of a transformer; those of klein 4B."""

    width: int = 3072
    head: int = 128
    mlp: int = 9216
    context: int = 7680
    double: int = 5
    single: int = 20
    channels: int = 128


VAE = VaeSizes(latent=32)
KLEIN_9B = Flux2Sizes(4096, 128, 12288, 12288, 8, 24)
SMALL = Flux2Sizes(64, 32, 192, 72, 2, 2, 32)


def original(sizes: Flux2Sizes = Flux2Sizes()) -> Listing:
    """A transformer as Black Forest Labs release it, without a prefix."""
    width, mlp = sizes.width, sizes.mlp
    names: Listing = {
        "img_in.weight": (width, sizes.channels),
        "txt_in.weight": (width, sizes.context),
        "time_in.in_layer.weight": (width, 256),
        "time_in.out_layer.weight": (width, width),
        "double_stream_modulation_img.lin.weight": (6 * width, width),
        "double_stream_modulation_txt.lin.weight": (6 * width, width),
        "single_stream_modulation.lin.weight": (3 * width, width),
        "final_layer.linear.weight": (sizes.channels, width),
        "final_layer.adaLN_modulation.1.weight": (2 * width, width),
    }
    for block in range(sizes.double):
        for stream in ("img", "txt"):
            name = f"double_blocks.{block}.{stream}"
            names[f"{name}_attn.qkv.weight"] = (3 * width, width)
            names[f"{name}_attn.proj.weight"] = (width, width)
            names |= _norms(f"{name}_attn.norm", sizes.head)
            names[f"{name}_mlp.0.weight"] = (2 * mlp, width)
            names[f"{name}_mlp.2.weight"] = (width, mlp)
    for block in range(sizes.single):
        name = f"single_blocks.{block}"
        names[f"{name}.linear1.weight"] = (3 * width + 2 * mlp, width)
        names[f"{name}.linear2.weight"] = (width, width + mlp)
        names |= _norms(f"{name}.norm", sizes.head)
    return names


def vae(sizes: VaeSizes = VAE) -> Listing:
    """The autoencoder as Black Forest Labs release it, with statistics of 2 x 2 cells."""
    sides = {"quant_conv.": "encoder.quant_conv.", "post_quant_conv.": "decoder.post_quant_conv."}
    names: Listing = {"bn.num_batches_tracked": ()}
    names |= {f"bn.running_{name}": (4 * sizes.latent,) for name in ("mean", "var")}
    for name, shape in listings.ldm_vae(sizes).items():
        start = name.partition(".")[0] + "."
        names[name.replace(start, sides.get(start, start), 1)] = shape
    return names


def narrow_vae(sizes: VaeSizes = VAE, width: int = 96) -> Listing:
    """The autoencoder with the small decoder, whose layers are `width` wide in place of the 128."""
    narrow = vae(replace(sizes, width=width))
    decoder = {name: shape for name, shape in narrow.items() if name.startswith("decoder.")}
    kept = {name: shape for name, shape in vae(sizes).items() if not name.startswith("decoder.")}
    return kept | decoder


def _norms(name: str, head: int) -> Listing:
    return {f"{name}.query_norm.scale": (head,), f"{name}.key_norm.scale": (head,)}
