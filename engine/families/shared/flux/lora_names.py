"""Names of the norms of transformers like Flux.1's in LoRA files."""

from collections.abc import Iterator, Mapping

from engine.lora.layers import Target

_BLOCKS = {"transformer_blocks": "double_blocks", "single_transformer_blocks": "single_blocks"}


def norm_names(
    targets: Mapping[str, Target], layers: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Target, ...]]]:
    """Yield the norms of queries and keys by their original names, without the name of the scale.

    Those of double blocks say whether they are of the picture or of the text. `layers` has the
    original names of layers within blocks, each with the canonical one.
    """
    for layer, target in targets.items():
        top, _, rest = layer.partition(".")
        number, _, leaf = rest.partition(".")
        for original, canonical in layers.items():
            is_double = "_attn." in original
            if canonical == f".{leaf}.weight" and is_double is (top == "transformer_blocks"):
                yield f"{_BLOCKS[top]}.{number}{original.removesuffix('.scale')}", (target,)
