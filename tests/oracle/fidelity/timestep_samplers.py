"""A1111's DDIM, DDIM CFG++, PLMS and UniPC, which step over timesteps and keep the variance.

After `sd_samplers_timesteps.py` and `sd_samplers_timesteps_impl.py` of v1.10.1. Its timesteps are
1, 101, ... for 10 steps, and the lowest is never evaluated: 10 steps are 9 evaluations. x is
sqrt(product) * picture + sqrt(1 - product) * noise, and what is decoded is x at the last timestep.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections.abc import Iterator
from typing import Any

import torch

from tests.oracle.fidelity import unipc
from tests.oracle.fidelity.networks import Networks, init_picture
from tests.oracle.fidelity.picture import Picture


def sample(networks: Networks, picture: Picture, model: Any, noise: Any) -> Any:
    """The latent [1, 4, H, W] that A1111 decodes."""
    from tests.oracle.fidelity.a1111 import Guided

    products = model.alphas_cumprod
    steps = picture.steps + (1 if picture.discards_next_to_last else 0)
    timesteps = torch.clip(torch.tensor(range(0, 1000, 1000 // steps)) + 1, 0, 999)
    x = noise.first()
    if picture.strength is not None:
        taken = int(min(picture.strength, 0.999) * picture.steps)
        product = products[timesteps[taken]]
        x = networks.latent(init_picture()) * product.sqrt() + x * (1 - product).sqrt()
        timesteps = timesteps[:taken]
    predict = _v_to_noise(model) if picture.prediction == "v_prediction" else model.apply_model
    guided = Guided(predict, networks, picture)
    if picture.sampler == "UniPC":
        start = float(timesteps[-1] / 1000 + 1 / 1000) if picture.strength is not None else 1.0
        return unipc.a1111(guided, x, products, len(timesteps), start)
    if picture.sampler == "PLMS":
        return _plms(guided, x, products, timesteps)
    if picture.sampler == "DDIM CFG++":
        guided.scale = picture.guidance / 12.5
    return _ddim(guided, x, products, timesteps, picture, noise)


def _v_to_noise(model: Any) -> Any:
    def noise_of(x: Any, timestep: Any, cond: Any) -> Any:
        product = model.alphas_cumprod[timestep.to(torch.int)][:, None, None, None]
        v = model.apply_model(x, timestep, cond)
        return product.sqrt() * v + (1 - product).sqrt() * x

    return noise_of


def _steps(products: Any, timesteps: Any) -> Iterator[tuple[int, Any, Any]]:
    """Each evaluated timestep from the highest, with its product and the next one's."""
    below = [0, *timesteps[:-1].tolist()]
    for index in range(len(timesteps) - 1, 0, -1):
        yield int(timesteps[index]), products[timesteps[index]], products[below[index]]


def _ddim(model: Any, x: Any, products: Any, timesteps: Any, picture: Picture, noise: Any) -> Any:
    """Song et al. (2021), equation 12; CFG++ renoises with the prediction without the prompt."""
    eta = picture.eta or 0.0
    for timestep, product, lower in _steps(products, timesteps):
        predicted = model(x, torch.tensor([timestep]))
        added = eta * ((1 - lower) / (1 - product) * (1 - product / lower)).sqrt()
        clean = (x - (1 - product).sqrt() * predicted) / product.sqrt()
        direction = model.unguided if picture.sampler == "DDIM CFG++" else predicted
        x = lower.sqrt() * clean + (1 - lower - added**2).sqrt() * direction
        x = x + added * noise.randn(x.shape)
    return x


def _plms(model: Any, x: Any, products: Any, timesteps: Any) -> Any:
    """Liu et al. (2022): Adams-Bashforth over the predictions, begun by Euler's improved step."""
    old: list[Any] = []

    def stepped(prediction: Any, product: Any, lower: Any) -> Any:
        clean = (x - (1 - product).sqrt() * prediction) / product.sqrt()
        return lower.sqrt() * clean + (1 - lower).sqrt() * prediction

    weights = {
        1: ((3, -1), 2),
        2: ((23, -16, 5), 12),
        3: ((55, -59, 37, -9), 24),
    }
    for index, (timestep, product, lower) in enumerate(_steps(products, timesteps)):
        predicted = model(x, torch.tensor([timestep]))
        if not old:
            following = timesteps[len(timesteps) - 2 - index]
            ahead = model(stepped(predicted, product, lower), following[None])
            combined = (predicted + ahead) / 2
        else:
            factors, divisor = weights[len(old)]
            history = [predicted, *reversed(old)]
            combined = sum(f * h for f, h in zip(factors, history, strict=True)) / divisor
        x = stepped(combined, product, lower)
        old = [*old, predicted][-3:]
    return x
