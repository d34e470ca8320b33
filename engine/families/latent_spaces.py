"""The latent spaces that families share: their scale, and how they look without a VAE."""

from dataclasses import dataclass

from engine.families.hints import PreviewFactors


@dataclass(frozen=True, slots=True)
class LatentSpace:
    """A space that one family of VAEs encodes to; `scale` makes its values unit variance."""

    name: str
    scale: float
    preview: PreviewFactors


# Previews are ComfyUI's (`comfy/latent_formats.py`).
SD = LatentSpace(
    "SD 1 and 2",
    0.18215,
    PreviewFactors(
        (
            (0.3512, 0.2297, 0.3227),
            (0.3250, 0.4974, 0.2350),
            (-0.2829, 0.1762, 0.2721),
            (-0.2120, -0.2616, -0.7177),
        )
    ),
)
SDXL = LatentSpace(
    "SDXL",
    0.13025,
    PreviewFactors(
        (
            (0.3651, 0.4232, 0.4341),
            (-0.2533, -0.0042, 0.1068),
            (0.1076, 0.1111, -0.0362),
            (-0.3165, -0.2492, -0.2188),
        ),
        (0.1084, -0.0175, -0.0011),
    ),
)
