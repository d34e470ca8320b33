"""Seamless edges, FreeU and guidance by attention in AUTOMATIC1111's and Forge's line.

After AUTOMATIC1111's `modules/processing.py`, the extensions asymmetric-tiling-sd-webui and
sd-webui-incantations, and Forge's built-in extensions.
"""

from collections.abc import Iterator

from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.request import GuidanceOptions

FREEU_FACTORS = ("b1", "b2", "s1", "s2")


def option_pairs(
    options: DenoiserOptions, guidance: GuidanceOptions
) -> Iterator[tuple[str, str | float | None]]:
    """Yield the keys and values of AUTOMATIC1111's and Forge's line for these options."""
    both = options.tiling is Tiling.BOTH
    yield "Tiling", "True" if both else None
    if options.tiling in (Tiling.X, Tiling.Y):
        yield "Tile X", str(options.tiling is Tiling.X)
        yield "Tile Y", str(options.tiling is Tiling.Y)
    # Forge has the second version alone.
    if options.freeu is FreeUVersion.V2:
        yield "freeu_enabled", "True"
        yield from zip(
            (f"freeu_{factor}" for factor in FREEU_FACTORS), options.freeu_factors, strict=True
        )
        yield from zip(("freeu_start", "freeu_end"), options.freeu_range, strict=True)
    if guidance.pag_scale:
        yield "pagi_enabled", "True"
        yield "pagi_scale", guidance.pag_scale
        yield from zip(("pagi_start_step", "pagi_end_step"), guidance.pag_range, strict=True)
        yield "PAG adaptive", guidance.pag_adaptive or None
    if guidance.sag_scale:
        yield "sag_enabled", "True"
        yield "sag_scale", guidance.sag_scale
        yield "sag_blur_sigma", guidance.sag_blur
        yield "sag_threshold", guidance.sag_threshold
