"""The sizes in which Qwen3 is published, by which its files are told apart."""

import msgspec


class PublishedSize(msgspec.Struct, frozen=True):
    """The widths of a Qwen3 decoder, and the models whose text encoder it is, if known."""

    width: int
    mlp_width: int
    encoder_of: str = ""


# From the `config.json` of Qwen/Qwen3-0.6B and so on; no two are equally wide.
PUBLISHED_SIZES = {
    "Qwen3-0.6B": PublishedSize(1024, 3072, "Anima"),
    "Qwen3-1.7B": PublishedSize(2048, 6144),
    "Qwen3-4B": PublishedSize(2560, 9728, "Z-Image, FLUX.2 klein 4B"),
    "Qwen3-8B": PublishedSize(4096, 12288, "FLUX.2 klein 9B"),
}
