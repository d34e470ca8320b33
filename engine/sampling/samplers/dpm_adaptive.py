"""DPM-Solver with adaptive step lengths, controlled by the estimated error."""

import math
from collections.abc import Iterator

import msgspec
import numpy as np

from engine.sampling.samplers.dpm_solver import Span, renewal, time_range, to_picture
from engine.sampling.samplers.times import level_at
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative

# In time: the run ends this close to its end, and no step becomes shorter.
_SHORTEST = 1e-5


class StepControl(msgspec.Struct, frozen=True):
    """Settings of the step length; the defaults are k-diffusion's.

    `order`, 2 or 3, is that of the solver, which is compared with a solver of one order less. An
    error is measured in units of `absolute`, or of `relative` times the latent if that is larger.
    """

    order: int = 3
    relative: float = 0.05
    absolute: float = 0.0078
    # The length of the first step, in log sigma.
    first: float = 0.05
    # Weights of the errors of this step and of the last two, as in a PID controller.
    proportional: float = 0.0
    integral: float = 1.0
    derivative: float = 0.0
    # A step is accepted unless the next would have to be shorter than this share of it.
    safety: float = 0.81


DEFAULT_CONTROL = StepControl()


def dpm_adaptive(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.0,
    noise_scale: float = 1.0,
    control: StepControl = DEFAULT_CONTROL,
) -> Iterator[Step]:
    """Try steps, and repeat those with too large an error; `control.order` evaluations each.

    Only the ends of the schedule count, see `time_range`. The number of steps is not known in
    advance: each try is yielded, with `x` unchanged if it was refused, and `Step.done` is the share
    of the way in log sigma. The error is that of the whole batch; numbers that are not finite end
    the run. `eta` in [0, 1] is the share of noise that is renewed; 0 draws none. Lu et al. (2022),
    DPM-Solver, appendix C; k-diffusion `sample_dpm_adaptive`. A1111 sets eta 1.
    """
    start, end = time_range(sigmas)
    if not end > start:
        yield from to_picture(denoise, x, sigmas)
        return
    length = _StepLength(control, 1.5 if eta > 0 else control.order)
    index, time, past = 0, start, x
    while time < end - _SHORTEST:
        time_next = np.minimum(end, time + length.value)
        target, up = renewal(time, time_next, end, eta)
        sigma = level_at(time)
        denoised = denoise(x, sigma)
        span = Span(denoise, x, derivative(x, sigma, denoised), time, target)
        low, high = _both_orders(span, control.order)
        error = _error(low, high, past, control)
        if not math.isfinite(error):
            x, time = high, end
        elif length.accepts(error):
            x, past, time = high, low, time_next
            if eta > 0:
                x = x + up * noise_scale * noise(sigma, level_at(time_next))
        yield Step(index, sigma, x, denoised, done=float((time - start) / (end - start)))
        index += 1


def _both_orders(span: Span, order: int) -> tuple[Latent, Latent]:
    """Return the step's results by order - 1 and by `order`, with shared evaluations."""
    if order == 2:
        return span.first_order(), span.second_order(span.look(0.5), 0.5)
    noise_ahead = span.look()
    return span.second_order(noise_ahead, 1 / 3), span.third_order(noise_ahead)


def _error(low: Latent, high: Latent, past: Latent, control: StepControl) -> float:
    """Return the root mean square difference of the results in units of the tolerance."""
    size = np.maximum(np.abs(low), np.abs(past))
    allowed = np.maximum(control.absolute, control.relative * size)
    return float(np.sqrt(np.mean(((low - high) / allowed) ** 2)))


class _StepLength:
    """The length of the next try, controlled by the errors of earlier ones.

    Soderlind (2003), Digital filters in adaptive time-stepping; k-diffusion
    `PIDStepSizeController`.
    """

    def __init__(self, control: StepControl, order: float) -> None:
        self.value = control.first
        self._safety = control.safety
        total = control.proportional + control.integral + control.derivative
        now, last = total, -(control.proportional + 2 * control.derivative)
        self._exponents = (now / order, last / order, control.derivative / order)
        # Inverse errors of the last two accepted steps, the newer first.
        self._past: tuple[float, float] | None = None

    def accepts(self, error: float) -> bool:
        """Return True if the error is small enough, and set the length of the next try."""
        inverse = 1 / (error + 1e-8)
        last, before = self._past or (inverse, inverse)
        now_exponent, last_exponent, before_exponent = self._exponents
        gain = inverse**now_exponent * last**last_exponent * before**before_exponent
        # At most 2.6 times as long, and at least a fifth.
        gain = 1 + math.atan(gain - 1)
        accepted = gain >= self._safety or self.value <= _SHORTEST
        if accepted:
            self._past = inverse, last
        self.value = max(self.value * gain, _SHORTEST)
        return accepted
