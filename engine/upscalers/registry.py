"""The table of architectures; the first that recognises a file's tensors reads them."""

from engine.upscalers.architectures import compact, esrgan, omni_sr, plksr, span, swin_ir
from engine.upscalers.network import UpscalerArchitecture

ARCHITECTURES: tuple[UpscalerArchitecture, ...] = (
    esrgan.ARCHITECTURE,
    span.ARCHITECTURE,
    plksr.ARCHITECTURE,
    swin_ir.ARCHITECTURE,
    omni_sr.ARCHITECTURE,
    # Last: its names are the plainest.
    compact.ARCHITECTURE,
)

TITLES = ", ".join(architecture.title for architecture in ARCHITECTURES)
