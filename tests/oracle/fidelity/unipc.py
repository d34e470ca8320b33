"""UniPC in plain torch (Zhao et al. 2023, B(h) form on data prediction, order 3 at most).

One loop for the tools: they differ in the times they visit and in what B(h) is.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import torch

# For a time: alpha, sigma and lambda = log(alpha / sigma).
Levels = Callable[[Any], tuple[Any, Any, Any]]


def _coefficients(ratios: list[Any], h: Any, b_of_h: Any) -> tuple[Any, Any]:
    """The matrix R and the vector b of the paper's equation 8, for h of the data form (-h)."""
    count = len(ratios)
    matrix = torch.stack([torch.stack(ratios) ** power for power in range(count)])
    phi = torch.expm1(h) / h - 1
    vector = []
    for order in range(1, count + 1):
        vector.append(phi * factorial(order) / b_of_h)
        phi = phi / h - 1 / factorial(order + 1)
    return matrix, torch.stack(vector)


def solve(
    data: Callable[[Any, Any], Any],
    x: Any,
    times: Any,
    levels: Levels,
    order: int,
    *,
    second_form: bool = False,
) -> Any:
    """From times[0] to times[-1]; `data` gives the picture of x at a time.

    Each step predicts, evaluates, and corrects with what it found; the last one only predicts.
    `second_form` takes B(h) = e^h - 1 for h.
    """
    history = [(times[0], data(x, times[0]))]
    last = len(times) - 1
    for step in range(1, last + 1):
        used = step if step < order else min(order, last + 1 - step)
        time, (before, newest) = times[step], history[-1]
        alpha, sigma, level = levels(time)
        _, sigma_0, level_0 = levels(before)
        h = -(level - level_0)
        b_of_h = torch.expm1(h) if second_form else h
        ratios = [
            (levels(t)[2] - level_0) / (level - level_0) for t, _ in history[-2 : -used - 1 : -1]
        ]
        slopes = [
            (value - newest) / ratio
            for (_, value), ratio in zip(history[-2 : -used - 1 : -1], ratios, strict=True)
        ]
        matrix, vector = _coefficients([*ratios, torch.ones_like(h)], h, b_of_h)
        base = sigma / sigma_0 * x - alpha * torch.expm1(h) * newest
        predicted = base - alpha * b_of_h * _predictor(matrix, vector, slopes)
        if step == last:
            return predicted
        found = data(predicted, time)
        weights = torch.linalg.solve(matrix, vector) if used > 1 else torch.tensor([0.5])
        change = sum(w * d for w, d in zip(weights, [*slopes, found - newest], strict=True))
        x = base - alpha * b_of_h * change
        history = [*history, (time, found)][-order:]
    return x


def _predictor(matrix: Any, vector: Any, slopes: list[Any]) -> Any:
    if not slopes:
        return 0.0
    if len(slopes) == 1:
        return 0.5 * slopes[0]
    weights = torch.linalg.solve(matrix[:-1, :-1], vector[:-1])
    return sum(weight * slope for weight, slope in zip(weights, slopes, strict=True))


def a1111(model: Any, x: Any, products: Any, steps: int, start: float) -> Any:
    """Evenly spaced times from `start` to 1/1000; timestep i is at time (i + 1) / 1000."""
    knots = (np.arange(1000) + 1) / 1000
    logs = 0.5 * np.log(products.double().numpy())

    def levels(time: Any) -> tuple[Any, Any, Any]:
        log_alpha = torch.tensor(np.interp(float(time), knots, logs), dtype=torch.float64)
        sigma = (1 - torch.exp(2 * log_alpha)).sqrt()
        return tuple(value.float() for value in (log_alpha.exp(), sigma, log_alpha - sigma.log()))  # type: ignore[return-value]

    def data(x: Any, time: Any) -> Any:
        alpha, sigma, _ = levels(time)
        return (x - sigma * model(x, ((time - 1 / 1000) * 1000)[None])) / alpha

    return solve(data, x, torch.linspace(start, 1 / 1000, steps + 1), levels, 3)


def comfy(denoise: Callable[[Any, Any], Any], x: Any, sigmas: Any, *, second_form: bool) -> Any:
    """Over ComfyUI's levels, the last of which becomes 0.001; `denoise` takes x with its noise."""
    times = torch.cat([sigmas[:-1], torch.tensor([0.001])]) if sigmas[-1] == 0 else sigmas

    def levels(sigma: Any) -> tuple[Any, Any, Any]:
        alpha = (1 / (sigma**2 + 1)).sqrt()
        return alpha, sigma * alpha, -sigma.log()

    def data(x: Any, sigma: Any) -> Any:
        return denoise(x * (sigma**2 + 1).sqrt(), sigma)

    start = x / (1 + times[0] ** 2).sqrt()
    order = min(3, len(times) - 2)
    end = solve(data, start, times, levels, order, second_form=second_form)
    return end / levels(times[-1])[0]
