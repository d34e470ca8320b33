"""Z-Image's transformer in its original layout, beside diffusers' own conversion of the keys."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import (  # noqa: E402
    convert_z_image_transformer_checkpoint_to_diffusers,
)

from engine.families import Component, identify  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flux.files import drawn  # noqa: E402
from tests.families.zimage import files  # noqa: E402


@pytest.mark.parametrize("prefix", ["", "model.diffusion_model."])
def test_keys_of_the_original_layout_become_diffusers(prefix: str, tmp_path: Path) -> None:
    """Queries, keys and values are rows of one layer; a norm that no code applies is left out."""
    numbers = drawn(files.original(files.SMALL) | {"norm_final.weight": (files.SMALL.width,)})
    numbers = {prefix + name: array for name, array in numbers.items()}
    write_arrays(tmp_path / "zimage.safetensors", numbers)
    found = identify(tmp_path / "zimage.safetensors").components[Component.DENOISER].weights
    theirs = convert_z_image_transformer_checkpoint_to_diffusers(
        {name: torch.from_numpy(array) for name, array in numbers.items()}
    )
    assert found.keys() == theirs.keys()
    assert any(".attention.to_v." in name for name in theirs)
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(as_source(found[name]).read(), tensor.numpy(), name)
