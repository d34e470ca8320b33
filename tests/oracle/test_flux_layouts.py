"""Flux.1's transformers as read from each layout, beside diffusers' own conversion of the keys."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import (  # noqa: E402
    convert_flux_transformer_checkpoint_to_diffusers,
)

from engine.families import Component, identify  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flux import files  # noqa: E402

# diffusers' converter knows no other width. Few columns keep the file small: rows are cut.
SIZES = files.FluxSizes(3072, 128, 12288, double=1, single=1)
COLUMNS = 4


def test_keys_of_the_original_layout_become_diffusers(tmp_path: Path) -> None:
    shapes = {
        name: shape if "img_in" in name else (shape[0], *(COLUMNS for _ in shape[1:]))
        for name, shape in files.original(SIZES).items()
    }
    numbers = files.drawn(shapes)
    write_arrays(tmp_path / "flux.safetensors", numbers)
    found = identify(tmp_path / "flux.safetensors").components[Component.DENOISER].weights
    theirs = convert_flux_transformer_checkpoint_to_diffusers(
        {name: torch.from_numpy(array) for name, array in numbers.items()}
    )
    for part in ("weight", "bias"):
        scale, shift = theirs.pop(f"norm_out.linear.{part}").chunk(2)
        theirs[f"norm_out.scale.{part}"], theirs[f"norm_out.shift.{part}"] = scale, shift
    assert found.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(as_source(found[name]).read(), tensor.numpy())
