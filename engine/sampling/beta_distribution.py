"""Quantiles of the beta distribution; SciPy would add 100 MB to the installer."""

import math

import numpy as np
from numpy.typing import NDArray

# The continued fraction gains more than half a digit per term for x <= 1/2.
_TERMS = 48
# One bit of the quantile each, from 1/2 down to beyond the precision of float64.
_HALVINGS = 64


def beta_quantile(p: NDArray[np.float64], a: float, b: float) -> NDArray[np.float64]:
    """Return the x in [0, 1] with P(X <= x) = p for X ~ Beta(a, b), elementwise, to 1e-12.

    `p` lies in [0, 1]; `a` and `b` in (0, 2], where the continued fraction below converges fast.
    """
    centre = _cumulative(np.array([0.5]), a, b)[0]
    lower = _lower_quantile(np.minimum(p, centre), a, b)
    # The upper half is the lower half of the mirrored distribution, where 1 - x is small.
    upper = _lower_quantile(np.minimum(1 - p, 1 - centre), b, a)
    return np.where(p <= centre, lower, 1 - upper)


def _lower_quantile(p: NDArray[np.float64], a: float, b: float) -> NDArray[np.float64]:
    """Bisect [0, 1/2] for quantiles that are known to lie there."""
    low = np.zeros_like(p)
    width = 0.5
    for _ in range(_HALVINGS):
        width /= 2
        middle = low + width
        low = np.where(_cumulative(middle, a, b) < p, middle, low)
    return low


def _cumulative(x: NDArray[np.float64], a: float, b: float) -> NDArray[np.float64]:
    """The regularised incomplete beta function I_x(a, b), for 0 < x <= 1/2 (DLMF 8.17.22)."""
    fraction = np.ones_like(x)
    for term in range(_TERMS, 0, -1):
        m = term // 2
        if term % 2:
            coefficient = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            coefficient = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        fraction = 1 + coefficient * x / fraction
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return np.exp(a * np.log(x) + b * np.log1p(-x) - log_beta) / (a * fraction)
