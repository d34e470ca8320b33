"""The three networks in torch, and pixels as the tools round them."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from numpy.typing import NDArray
from transformers import CLIPTextModel, CLIPTokenizer

from tests.tiny_checkpoint import DOWNSCALE, SIDE

CELLS = SIDE // DOWNSCALE
SHAPE = 4, CELLS, CELLS


@lru_cache(maxsize=2)
def _read(folder: Path) -> tuple[Any, Any, Any, Any]:
    """UNet, VAE, text encoder and tokenizer of a folder, which is not written to afterwards."""
    return (
        UNet2DConditionModel.from_pretrained(folder / "unet").eval(),
        AutoencoderKL.from_pretrained(folder / "vae").eval(),
        CLIPTextModel.from_pretrained(folder / "text_encoder").eval(),
        CLIPTokenizer.from_pretrained(folder / "tokenizer"),
    )


class Networks:
    """A checkpoint in diffusers' layout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unet, self.vae, self.text_encoder, self.tokenizer = _read(folder)

    @cached_property
    def text_model(self) -> Any:
        """The encoder with its final norm; transformers 5 has no wrapper around it."""
        return getattr(self.text_encoder, "text_model", self.text_encoder)

    def predict(self, x: Any, timestep: Any, context: Any, seen: Any = None) -> Any:
        """The UNet's output for x [B, 4, H, W] at timesteps [B] with context [B, T, width].

        Nothing attends to text where `seen` [B, T] is 0.
        """
        return self.unet(
            x, timestep, encoder_hidden_states=context, encoder_attention_mask=seen
        ).sample

    def encode(self, ids: list[list[int]], clip_skip: int = 1) -> Any:
        """The text encoder's output [chunks, 77, width]; skipped layers end in the norm, too."""
        output = self.text_encoder(torch.tensor(ids), output_hidden_states=True)
        if clip_skip == 1:
            return output.last_hidden_state
        return self.text_model.final_layer_norm(output.hidden_states[-clip_skip])

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text without marks at its ends."""
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def latent(self, picture: NDArray[np.uint8], drawn_by: torch.Generator | None = None) -> Any:
        """The latent [1, 4, H, W] of a picture: its distribution's mean, or drawn from it."""
        pixels = torch.from_numpy(picture.astype(np.float32) / 127.5 - 1).permute(2, 0, 1)[None]
        known = self.vae.encode(pixels).latent_dist
        latent = known.mode() if drawn_by is None else known.sample(drawn_by)
        return latent * self.vae.config.scaling_factor

    def pixels(self, latent: Any, *, rounds: bool) -> NDArray[np.uint8]:
        """Decode a latent [1, 4, H, W] to levels [H, W, 3], rounded or cut off."""
        image = self.vae.decode(latent / self.vae.config.scaling_factor).sample[0]
        levels = 255.0 * torch.clamp((image + 1.0) / 2.0, 0, 1).permute(1, 2, 0).numpy()
        return (levels.round() if rounds else levels).astype(np.uint8)


def alphas_cumprod() -> Any:
    """The products as `LatentDiffusion.register_schedule` of CompVis computes and stores them."""
    betas = torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=torch.float64) ** 2
    return torch.tensor(np.cumprod(1.0 - betas.numpy(), axis=0), dtype=torch.float32)


def init_picture() -> NDArray[np.uint8]:
    """A picture to redraw: blurred coloured noise."""
    generator = torch.Generator().manual_seed(0)
    small = torch.rand((1, 3, SIDE // 8, SIDE // 8), generator=generator)
    large = torch.nn.functional.interpolate(small, (SIDE, SIDE), mode="bicubic").clamp(0, 1)
    return (large[0].permute(1, 2, 0).numpy() * 255).astype(np.uint8)
