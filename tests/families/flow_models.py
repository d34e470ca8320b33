"""Small models of the flow families whose files have whole blocks of every quantised type."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from engine.api.request import ComponentFiles
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.chroma import files as chroma
from tests.families.flux import files as flux
from tests.families.flux.files import FluxSizes, drawn
from tests.families.flux2 import files as flux2
from tests.families.listings import EIGHTFOLD_VAE, ClipSizes, Listing
from tests.families.sd3 import files as sd3
from tests.families.zimage import files as zimage

# Rows of 256 numbers, so that every type has whole blocks of them.
WIDE, _CLIP = 256, 64


def _clip() -> Listing:
    clip = listings.clip_text(ClipSizes(width=_CLIP, layers=2))
    return clip | {"text_projection.weight": (_CLIP, _CLIP)}


@dataclass(frozen=True)
class Model:
    """A model in parts: the transformer, the encoder that llama.cpp converts, and the others.

    `trimmed` are tensors whose first side is 1, which llama.cpp leaves out of their shape.
    """

    family: str
    name: str
    architecture: str
    transformer: Listing
    encoder: Listing
    encoder_architecture: str
    vae: Listing = field(default_factory=listings.flow_vae)
    encoder_part: str = "text_encoder"
    clips: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    # What city96's converter leaves as it is.
    plain: str = r"(txt_in|img_in|time_in|final_layer)\."


MODELS = {
    model.family: model
    for model in (
        Model(
            "flux1",
            "flux1-dev",
            "flux",
            flux.original(FluxSizes(WIDE, 32, 512, WIDE, _CLIP, 1, 1)),
            listings.t5_encoder(WIDE),
            "t5encoder",
            encoder_part="text_encoder_2",
            clips=("text_encoder",),
            plain=r"(txt_in|img_in|time_in|vector_in|guidance_in|final_layer)\.",
        ),
        Model(
            "zimage",
            "z_image_turbo",
            "lumina2",
            zimage.original(zimage.ZImageSizes(WIDE, 32, 512, WIDE, 256, 1, 1)),
            zimage.qwen3(WIDE),
            "qwen3",
            trimmed=("x_pad_token", "cap_pad_token"),
            plain=r"_pad_token|(t_embedder|x_embedder|final_layer|cap_embedder|_refiner)\.",
        ),
        Model(
            "flux2",
            "flux-2-klein-4b",
            "flux",
            flux2.original(flux2.Flux2Sizes(WIDE, 32, 512, 3 * WIDE, 1, 1, 32)),
            zimage.qwen3(WIDE, layers=28),
            "qwen3",
            vae=flux2.vae(replace(EIGHTFOLD_VAE, latent=8)),
        ),
        Model(
            "chroma",
            "Chroma1-HD",
            "flux",
            chroma.original(
                chroma.ChromaSizes(FluxSizes(WIDE, 32, 512, WIDE, _CLIP, 1, 1), 64, WIDE, 1)
            ),
            listings.t5_encoder(WIDE),
            "t5encoder",
        ),
        Model(
            "sd3",
            "sd3.5_medium",
            "sd3",
            sd3.original(sd3.Sd3Sizes(WIDE, 32, WIDE, 2 * _CLIP, 2, 16, normalised=True, dual=1)),
            listings.t5_encoder(WIDE),
            "t5encoder",
            encoder_part="text_encoder_3",
            clips=("text_encoder", "text_encoder_2"),
            trimmed=("pos_embed",),
            plain=r"pos_embed|(final_layer|context_embedder|t_embedder|y_embedder|x_embedder)\.",
        ),
    )
}


@dataclass(frozen=True)
class Written:
    """A model's parts as safetensors, in a folder of their own."""

    model: Model
    folder: Path
    parts: ComponentFiles


def write_parts(folder: Path, model: Model) -> Written:
    """Write the parts of a model but its transformer."""
    vae = drawn(model.vae, 2)
    if "bn.running_var" in vae:
        vae["bn.running_var"] = np.abs(vae["bn.running_var"]) + 1
    numbers = {"vae": vae, model.encoder_part: drawn(model.encoder, 1)}
    numbers |= {part: drawn(_clip(), 3) for part in model.clips}
    for part, arrays in numbers.items():
        write_arrays(folder / f"{part}.safetensors", arrays)
    files = {part: str(folder / f"{part}.safetensors") for part in numbers}
    return Written(model, folder, ComponentFiles(**files))
