"""Trains the VAE: eight times smaller sides, four latent channels, few channels at full size.

The decoder decides how clean the edges of every picture look, so most crops show the object, and
the loss adds image gradients to pixel differences. Crops grow from 64 pixels to the whole picture,
because the group norms must end on the statistics of whole pictures.
"""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import random

import numpy as np
import torch
from diffusers import AutoencoderKL
from diffusers.models.resnet import ResnetBlock2D
from torch import nn
from torch.nn import functional

from starter.scenes import CENTRE_X, SIZE, Scene
from starter.training import parallel
from starter.training.common import (
    RUN,
    Clock,
    Pictures,
    draw_pictures,
    load_scenes,
    save_scenes,
    set_up,
    to_tensor,
)

CONFIG = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (32, 48, 96, 128),
    "layers_per_block": 1,
    "latent_channels": 4,
    "norm_num_groups": 4,
    "sample_size": SIZE,
}
PEAK_RATE = 5e-4
KL_WEIGHT = 2e-6
EDGE_WEIGHT = 0.5
WARM_STEPS = 150
SAVE_SECONDS = 120
# (end of the stage as a share of the time, crop in pixels, pictures in each process's batch)
STAGES = ((0.5, 64, 4), (0.86, 128, 2), (1.0, 256, 1))


def train_vae(minutes: float, pictures: int, spent: float) -> None:
    """Train for `minutes` and save to `run/vae`.

    If that exists, training continues from it; `spent` (0 to 1) is the share of the schedule
    already done.
    """
    set_up(1)
    chunks = list(draw_pictures(pictures, seed=1))
    np.save(RUN / "pictures.npy", np.concatenate([chunk.pixels for chunk in chunks]))
    save_scenes([scene for chunk in chunks for scene in chunk.scenes], RUN / "pictures.json")
    parallel.run(_train, minutes, spent)
    pool = _load_pictures()
    vae = AutoencoderKL.from_pretrained(RUN / "vae")
    standardise(vae, Pictures(pool.pixels[:256], pool.scenes[:256]))
    vae.save_pretrained(RUN / "vae")


def _load_pictures() -> Pictures:
    return Pictures(
        np.load(RUN / "pictures.npy", mmap_mode="r"), load_scenes(RUN / "pictures.json")
    )


def _train(rank: int, minutes: float, spent: float) -> None:
    """Run one process's share of the training; the first also prints and saves."""
    torch.manual_seed(rank)
    pool, folder = _load_pictures(), RUN / "vae"
    vae = AutoencoderKL.from_pretrained(folder) if folder.exists() else _new_vae()
    vae.to(memory_format=torch.channels_last).train()
    parallel.share_parameters(vae)
    parameters = list(vae.parameters())
    optimizer = torch.optim.AdamW(parameters, betas=(0.9, 0.99), weight_decay=0)
    rng, clock = random.Random(rank), Clock(60 * minutes)
    step, saved, mean_psnr, done = 0, 0.0, 0.0, spent
    while done < 1:
        _, crop, count = next(stage for stage in STAGES if done < stage[0])
        optimizer.param_groups[0]["lr"] = PEAK_RATE * min(1, (step + 1) / WARM_STEPS) * (1 - done)
        loss, psnr = _loss(vae, to_tensor(crops(pool, crop, count, rng)))
        optimizer.zero_grad()
        loss.backward()
        done = spent + (1 - spent) * parallel.average_gradients(parameters, clock.done)
        torch.nn.utils.clip_grad_norm_(parameters, 1)
        optimizer.step()
        step += 1
        mean_psnr += (psnr - mean_psnr) * max(0.03, 1 / step)
        if rank == 0 and step % 50 == 0:
            print(f"{step} {clock.spent:.0f} s, crop {crop}, PSNR {mean_psnr:.1f} dB", flush=True)
        if rank == 0 and (done >= 1 or clock.spent - saved > SAVE_SECONDS):
            saved = clock.spent
            vae.save_pretrained(folder)


def _new_vae() -> AutoencoderKL:
    """Return a VAE whose initial weights average each 8x8 pixels and repeat the average.

    From the library's random start it takes more than a thousand steps to see colours at all. Here
    residual branches start at zero, resampling and shortcuts pass their channels on, and the first
    eight channels carry each colour as a pair (x, -x) next to two large constants: the constants
    fix the scale of the group norm, and silu(x) - silu(-x) = x, so colours pass unchanged.
    """
    vae = AutoencoderKL(**CONFIG)
    with torch.no_grad():
        for name, module in vae.named_modules():
            if isinstance(module, ResnetBlock2D):
                _silence(module.conv2)
                if module.conv_shortcut is not None:
                    _pass_on(module.conv_shortcut)
            elif name.endswith("downsamplers.0.conv"):
                _pass_on(module)
                module.weight[:, :, :2, :2] = module.weight[:, :, 1:2, 1:2] / 4
            elif name.endswith("upsamplers.0.conv") or name == "post_quant_conv":
                _pass_on(module)
            elif name.endswith("to_out.0"):
                _silence(module)
        for half in (vae.encoder, vae.decoder):
            _split_colours(half.conv_in)
            _join_colours(half.conv_out)
        _pass_on(vae.quant_conv)
        vae.quant_conv.weight[4:] = 0
        vae.quant_conv.bias[4:] = -6.0  # hardly any latent noise at first
    return vae


def _silence(layer: nn.Conv2d | nn.Linear) -> None:
    layer.weight.zero_()
    layer.bias.zero_()


def _pass_on(layer: nn.Conv2d) -> None:
    nn.init.dirac_(layer.weight)
    layer.bias.zero_()


def _split_colours(layer: nn.Conv2d) -> None:
    """Make channels 0 and 1 constants, and channels 2 to 7 the pairs x, -x of inputs 0 to 2."""
    layer.weight[:8] = 0
    layer.bias[:8] = torch.tensor([2.0, -2.0, 0, 0, 0, 0, 0, 0])
    for i in range(3):
        layer.weight[2 + 2 * i, i, 1, 1] = 1
        layer.weight[3 + 2 * i, i, 1, 1] = -1


def _join_colours(layer: nn.Conv2d) -> None:
    """Make each of the first three outputs the difference of its pair."""
    layer.weight[:3] = 0
    layer.bias[:3] = 0
    for i in range(3):
        layer.weight[i, 2 + 2 * i, 1, 1] = 1
        layer.weight[i, 3 + 2 * i, 1, 1] = -1


def standardise(vae: AutoencoderKL, pictures: Pictures) -> None:
    """Give each latent channel mean 0 and standard deviation 1; decoded pictures do not change.

    An affine map of the latents is folded into the 1x1 convolutions on either side of them. The
    denoiser starts from standard noise, so latents should be centred, too.
    """
    vae.eval()
    with torch.no_grad():
        parts = [to_tensor(pictures.pixels[i : i + 8]) for i in range(0, len(pictures.pixels), 8)]
        means = torch.cat([vae.encode(part).latent_dist.mean for part in parts])
        mean, spread = means.mean(dim=(0, 2, 3)), means.std(dim=(0, 2, 3))
        into, out = vae.quant_conv, vae.post_quant_conv
        into.weight[:4] /= spread.view(4, 1, 1, 1)
        into.bias[:4] = (into.bias[:4] - mean) / spread
        into.bias[4:] -= 2 * spread.log()  # these give the log of the variance
        out.bias += out.weight[:, :, 0, 0] @ mean
        out.weight *= spread.view(1, 4, 1, 1)
    print(f"latents had mean {mean.tolist()}, spread {spread.tolist()}")


def crops(pool: Pictures, size: int, count: int, rng: random.Random) -> np.ndarray:
    """Return `count` square crops, uint8 [count, size, size, 3]; seven in ten show the object."""
    out: list[np.ndarray] = []
    for _ in range(count):
        i = rng.randrange(len(pool.scenes))
        cx, cy = _object_centre(pool.scenes[i])
        if rng.random() < 0.3:
            cx, cy = rng.uniform(0, SIZE), rng.uniform(0, SIZE)
        x = _crop_start(cx + rng.uniform(-44, 44), size)
        y = _crop_start(cy + rng.uniform(-48, 48), size)
        out.append(pool.pixels[i, y : y + size, x : x + size])
    return np.stack(out)


def _object_centre(scene: Scene) -> tuple[float, float]:
    return CENTRE_X[scene.place], 90 if scene.kind == "balloon" else 178


def _crop_start(centre: float, size: int) -> int:
    return int(min(SIZE - size, max(0, centre - size / 2)))


def _loss(vae: AutoencoderKL, x: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Return a weighted sum of L1, L2, gradient difference and KL; and the PSNR in dB."""
    with torch.autocast("cpu", torch.bfloat16):
        posterior = vae.encode(x).latent_dist
        y = vae.decode(posterior.sample()).sample
    y = y.float()
    edges = sum(functional.l1_loss(y.diff(dim=axis), x.diff(dim=axis)) for axis in (-1, -2))
    squared = functional.mse_loss(y, x)
    kl = posterior.kl().mean() / posterior.mean[0].numel()
    loss = functional.l1_loss(y, x) + EDGE_WEIGHT * edges + 2 * squared + KL_WEIGHT * kl
    return loss, float(-10 * torch.log10(squared.detach() / 4))
