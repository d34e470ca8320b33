"""Trains the denoiser on cached latents, with a frozen text encoder.

Noise prediction on Stable Diffusion 1's schedule, with three economies that matter on two cores:
latents are encoded once; the loss is weighted so that every noise level contributes about equally
to the picture (min-SNR, Hang et al. 2023, in its form for the noise plus signal); and the learning
rate falls to zero exactly when the time is up. A picture gets a new caption each time it is used.
"""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import random
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from torch import nn
from torch.nn import functional
from transformers import CLIPTextModel, CLIPTokenizer

from starter.captions import caption
from starter.scenes import Scene
from starter.training import parallel
from starter.training.common import (
    RUN,
    Clock,
    draw_chunk,
    load_scenes,
    save_scenes,
    to_tensor,
)
from starter.training.text import HIDDEN, tokens
from starter.training.tokenizer import load_tokenizer

CONFIG = {
    "sample_size": 32,
    "in_channels": 4,
    "out_channels": 4,
    "layers_per_block": 1,
    "block_out_channels": (48, 80, 128, 160),
    "down_block_types": ("DownBlock2D",) * 2 + ("CrossAttnDownBlock2D",) * 2,
    "up_block_types": ("CrossAttnUpBlock2D",) * 2 + ("UpBlock2D",) * 2,
    "attention_head_dim": 4,  # the number of heads, as in Stable Diffusion 1
    "norm_num_groups": 16,
    "cross_attention_dim": HIDDEN,
}
STEPS = 1000
CHUNK = 16
BATCH = 16  # in each process
WARM_STEPS = 200
PEAK_RATE = 8e-4
EMPTY_SHARE = 0.1
SNR_CEILING, WEIGHT_CEILING = 20.0, 20.0
OFFSET_WHOLE, OFFSET_QUARTERS = 0.1, 0.08
EMA_DECAY = 0.999
SAVE_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Latents:
    """Encoded postcards: `values` [n, 4, 32, 32] with standard deviation 1, and their scenes."""

    values: torch.Tensor
    scenes: list[Scene]


def signal_shares() -> torch.Tensor:
    """Return alpha-bar of each of the 1000 timesteps of Stable Diffusion 1's schedule."""
    betas = torch.linspace(0.00085**0.5, 0.012**0.5, STEPS) ** 2
    return torch.cumprod(1 - betas, dim=0)


def loss_weights() -> torch.Tensor:
    """Return the loss weight of each timestep: min(SNR + 1, 20) / SNR, at most 20."""
    snr = signal_shares() / (1 - signal_shares())
    return ((snr + 1).clamp(max=SNR_CEILING) / snr).clamp(max=WEIGHT_CEILING)


def encode_pictures(count: int) -> None:
    """Draw and encode `count` postcards into `run/latents.npy`, their scenes next to it."""
    parts: list[np.ndarray] = []
    scenes: list[Scene] = []
    jobs = [(900_001 + i, min(CHUNK, count - i)) for i in range(0, count, CHUNK)]
    with get_context("spawn").Pool(parallel.PROCESSES, _load_encoder) as pool:
        for latents, drawn in pool.imap(_encode_chunk, jobs):
            parts.append(latents)
            scenes += drawn
            if len(parts) % 20 == 0:
                print(f"{len(scenes)} encoded", flush=True)
    np.save(RUN / "latents.npy", np.concatenate(parts))
    save_scenes(scenes, RUN / "latents.json")


_encoder: AutoencoderKL | None = None  # of this process


def _load_encoder() -> None:
    global _encoder
    torch.set_num_threads(1)
    vae = AutoencoderKL.from_pretrained(RUN / "vae").eval().requires_grad_(False)
    _encoder = vae.to(memory_format=torch.channels_last)


def _encode_chunk(job: tuple[int, int]) -> tuple[np.ndarray, list[Scene]]:
    """Return latent means, fp16 [n, 4, 32, 32], of new pictures, and their scenes."""
    assert _encoder is not None
    pictures = draw_chunk(job)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        mean = _encoder.encode(to_tensor(pictures.pixels)).latent_dist.mean
    return mean.float().numpy().astype(np.float16), pictures.scenes


def load_latents() -> Latents:
    values = torch.from_numpy(np.load(RUN / "latents.npy").astype(np.float32))
    return Latents(values * scaling_factor(), load_scenes(RUN / "latents.json"))


def scaling_factor() -> float:
    """Return the factor that gives latents a standard deviation of 1."""
    return 1 / float(np.load(RUN / "latents.npy").std(dtype=np.float32))


def draw_noise(like: torch.Tensor) -> torch.Tensor:
    """Return white noise plus a small offset common to the picture, or to each quarter of it.

    The noisiest step of the schedule still shows the brightness of a picture. Sampling starts
    without that hint, so the denoiser must learn to rely on the words instead (Guttenberg 2023).
    """
    whole = OFFSET_WHOLE * torch.randn(*like.shape[:2], 1, 1)
    quarters = OFFSET_QUARTERS * torch.randn(*like.shape[:2], 2, 2)
    low = functional.interpolate(quarters, like.shape[2:], mode="bilinear", align_corners=False)
    return torch.randn_like(like) + whole + low


class Average:
    """The exponential moving average of the parameters; samples and the export use it."""

    def __init__(self, network: nn.Module) -> None:
        self._live = list(network.parameters())
        self.values = [p.detach().clone() for p in self._live]

    def update(self, step: int) -> None:
        decay = min(EMA_DECAY, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(self.values, [p.detach() for p in self._live], 1 - decay)

    def save(self, network: UNet2DConditionModel, folder: Path) -> None:
        """Save `network` with the averaged values, leaving it unchanged."""
        with torch.no_grad():
            live = [p.detach().clone() for p in self._live]
            torch._foreach_copy_(self._live, self.values)
            network.save_pretrained(folder)
            torch._foreach_copy_(self._live, live)


def train_unet(minutes: float, peak_rate: float = PEAK_RATE) -> None:
    """Train for `minutes`, from scratch or from `run/unet.pt`; write `run/unet` (averaged)."""
    RUN.mkdir(exist_ok=True)
    parallel.run(_train, minutes, peak_rate)


def _train(rank: int, minutes: float, peak_rate: float) -> None:
    """Run one process's share of the training; the first also prints and saves."""
    torch.manual_seed(random.randrange(1 << 30))
    latents, tokenizer, rng = load_latents(), load_tokenizer(), random.Random()
    text = CLIPTextModel.from_pretrained(RUN / "text_encoder").eval().requires_grad_(False)
    unet = UNet2DConditionModel(**CONFIG).to(memory_format=torch.channels_last)
    parallel.share_parameters(unet)
    parameters = list(unet.parameters())
    optimizer = torch.optim.AdamW(parameters, betas=(0.9, 0.99), weight_decay=0.01)
    average, state, step = Average(unet), RUN / "unet.pt", 0
    if state.exists():
        step = _resume(state, unet, optimizer, average)
    clock, saved, mean_loss, first, done = Clock(60 * minutes), 0.0, 1.0, step, 0.0
    while done < 1:
        warm = min(1, (step - first + 1) / WARM_STEPS)
        optimizer.param_groups[0]["lr"] = peak_rate * warm * (1 - done)
        loss = _loss(unet, text, tokenizer, latents, rng)
        optimizer.zero_grad()
        loss.backward()
        done = parallel.average_gradients(parameters, clock.done)
        torch.nn.utils.clip_grad_norm_(parameters, 1)
        optimizer.step()
        step += 1
        average.update(step)
        mean_loss += 0.02 * (loss.item() - mean_loss)
        if rank == 0 and step % 100 == 0:
            print(f"{step} {clock.spent:.0f} s, loss {mean_loss:.4f}", flush=True)
        if rank == 0 and (done >= 1 or clock.spent - saved > SAVE_SECONDS):
            saved = clock.spent
            _save(state, unet, optimizer, average, step)


def _loss(
    unet: UNet2DConditionModel,
    text: CLIPTextModel,
    tokenizer: CLIPTokenizer,
    latents: Latents,
    rng: random.Random,
) -> torch.Tensor:
    """Return the weighted squared error of the predicted noise, on one random batch."""
    pick = [rng.randrange(len(latents.scenes)) for _ in range(BATCH)]
    said = [
        "" if rng.random() < EMPTY_SHARE else caption(latents.scenes[i], rng).text for i in pick
    ]
    clean, t = latents.values[pick], torch.randint(0, STEPS, (BATCH,))
    noise, share = draw_noise(clean), _SHARES[t].view(-1, 1, 1, 1)
    noisy = share.sqrt() * clean + (1 - share).sqrt() * noise
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            context = text(input_ids=tokens(tokenizer, said)).last_hidden_state
        predicted = unet(noisy.to(memory_format=torch.channels_last), t, context).sample
    error = functional.mse_loss(predicted.float(), noise, reduction="none").mean(dim=(1, 2, 3))
    return (error * _WEIGHTS[t]).mean()


_SHARES = signal_shares()
_WEIGHTS = loss_weights()


def _save(
    state: Path,
    unet: UNet2DConditionModel,
    optimizer: torch.optim.Optimizer,
    average: Average,
    step: int,
) -> None:
    partial = state.with_suffix(".partial")
    values = {"unet": unet.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**values, "average": average.values, "step": step}, partial)
    partial.replace(state)
    average.save(unet, RUN / "unet")


def _resume(
    state: Path, unet: UNet2DConditionModel, optimizer: torch.optim.Optimizer, average: Average
) -> int:
    values = torch.load(state, weights_only=True)
    unet.load_state_dict(values["unet"])
    optimizer.load_state_dict(values["optimizer"])
    average.values = values["average"]
    return int(values["step"])
