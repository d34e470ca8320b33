"""Products computed in tiles are those of whole matrices."""

import numpy as np
import pytest

from engine.weights.products import product


@pytest.mark.parametrize("inner", [1, 3, 64, 700])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 4096), (17, 5000), (40, 33)])
def test_a_product_is_that_of_the_whole_matrices(rows: int, inner: int, columns: int) -> None:
    random = np.random.default_rng(0)
    # Small whole numbers, whose sums are exact in any order.
    left = random.integers(-4, 5, (rows, inner)).astype(np.float32)
    right = random.integers(-4, 5, (inner, columns)).astype(np.float32)
    np.testing.assert_array_equal(product(left, right), left @ right)
