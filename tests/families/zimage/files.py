"""Listings and files of Z-Image's parts, in the original layout, diffusers' and ComfyUI's."""

from dataclasses import dataclass

from tests.families.listings import Listing, affine

_ORIGINAL = {
    "all_x_embedder.2-1.": "x_embedder.",
    "all_final_layer.2-1.": "final_layer.",
    ".attention.to_out.0.": ".attention.out.",
    ".attention.norm_q.": ".attention.q_norm.",
    ".attention.norm_k.": ".attention.k_norm.",
}


@dataclass(frozen=True)
class ZImageSizes:
    """The sizes of a transformer; those of Z-Image."""

    width: int = 3840
    head: int = 128
    mlp: int = 10240
    context: int = 2560
    embedding: int = 256
    layers: int = 30
    refiners: int = 2
    numbers: int = 64


SMALL = ZImageSizes(64, 32, 96, 40, 64, 2, 1)


def diffusers(sizes: ZImageSizes = ZImageSizes()) -> Listing:
    """A transformer with diffusers' names."""
    width, embedding = sizes.width, sizes.embedding
    names = affine("all_x_embedder.2-1", width, sizes.numbers)
    names |= affine("all_final_layer.2-1.linear", sizes.numbers, width)
    names |= affine("all_final_layer.2-1.adaLN_modulation.1", width, embedding)
    names |= affine("t_embedder.mlp.0", 1024, 256) | affine("t_embedder.mlp.2", embedding, 1024)
    names |= {"cap_embedder.0.weight": (sizes.context,)}
    names |= affine("cap_embedder.1", width, sizes.context)
    names |= {"x_pad_token": (1, width), "cap_pad_token": (1, width)}
    for kind, count in (
        ("noise_refiner", sizes.refiners),
        ("context_refiner", sizes.refiners),
        ("layers", sizes.layers),
    ):
        for number in range(count):
            names |= _block(f"{kind}.{number}", sizes, modulated=kind != "context_refiner")
    return names


def _block(name: str, sizes: ZImageSizes, *, modulated: bool) -> Listing:
    width, attention = sizes.width, f"{name}.attention"
    names: Listing = {f"{attention}.to_{part}.weight": (width, width) for part in "qkv"}
    names[f"{attention}.to_out.0.weight"] = (width, width)
    names |= {f"{attention}.norm_{part}.weight": (sizes.head,) for part in "qk"}
    names |= {f"{name}.feed_forward.w{n}.weight": (sizes.mlp, width) for n in (1, 3)}
    names[f"{name}.feed_forward.w2.weight"] = (width, sizes.mlp)
    names |= {
        f"{name}.{kind}_norm{n}.weight": (width,) for kind in ("attention", "ffn") for n in (1, 2)
    }
    return names | (
        affine(f"{name}.adaLN_modulation.0", 4 * width, sizes.embedding) if modulated else {}
    )


def original(sizes: ZImageSizes = ZImageSizes()) -> Listing:
    """A transformer in the original layout, which ComfyUI has: queries, keys and values in one."""
    found: Listing = {}
    for name, shape in diffusers(sizes).items():
        if ".attention.to_q." in name:
            joined = name.replace(".to_q.", ".qkv.")
            found[joined] = (3 * shape[0], *shape[1:])
        elif ".attention.to_k." not in name and ".attention.to_v." not in name:
            found[_original_name(name)] = shape
    return found


def _original_name(name: str) -> str:
    for diffusers_part, part in _ORIGINAL.items():
        name = name.replace(diffusers_part, part)
    return name


def qwen3(
    width: int, heads: int = 4, key_heads: int = 2, head: int = 16, layers: int = 2, mlp: int = 64
) -> Listing:
    """Qwen3's decoder, small, with the words of all sizes, as ComfyUI's split files name it."""
    names: Listing = {"model.embed_tokens.weight": (151_936, width), "model.norm.weight": (width,)}
    for layer in range(layers):
        name = f"model.layers.{layer}"
        for part, count in (("q", heads), ("k", key_heads), ("v", key_heads)):
            names[f"{name}.self_attn.{part}_proj.weight"] = (count * head, width)
        names[f"{name}.self_attn.o_proj.weight"] = (width, heads * head)
        names |= {f"{name}.self_attn.{part}_norm.weight": (head,) for part in "qk"}
        names |= {f"{name}.mlp.{part}_proj.weight": (mlp, width) for part in ("gate", "up")}
        names[f"{name}.mlp.down_proj.weight"] = (width, mlp)
        names |= {
            f"{name}.{part}_layernorm.weight": (width,) for part in ("input", "post_attention")
        }
    return names
