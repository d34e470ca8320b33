"""Every key that trainers write is placed on the right weight, for each dialect and family.

The keys, and what each layer means, come from the trainers' own code: see `freeze_layouts` and
`freeze_trainers`.
"""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest

from backends.base import DType, FileSlice
from engine.checkpoints.index import TensorIndex
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.families.lora_purpose import fit_lora, purpose_of
from engine.lora.file import LoraFile, read_lora
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.thinned import thinned

FROZEN = [Path(__file__).parent / "frozen" / f"{name}.json.xz" for name in ("layouts", "trainers")]
CHECKPOINTS = {
    "sd1": listings.original(),
    "sd2": listings.sd2(),
    "sdxl": listings.sdxl(),
}
COMPONENTS = {
    "unet": Component.DENOISER,
    "text_encoder": Component.TEXT_ENCODER,
    "text_encoder_2": Component.TEXT_ENCODER_2,
}


class Layout(TypedDict):
    """A file's keys with their shapes, and the meaning of each layer."""

    keys: dict[str, list[int]]
    layers: dict[str, str]


@cache
def layouts() -> dict[str, Layout]:
    found: dict[str, Layout] = {}
    for path in FROZEN:
        found |= json.loads(lzma.decompress(path.read_bytes()))
    return found


def file_of(layout: Layout) -> LoraFile:
    path = Path("x.safetensors")
    tensors = {
        key: FileSlice(path, 0, DType.F16, tuple(shape)) for key, shape in layout["keys"].items()
    }
    return read_lora(TensorIndex(path, tensors, {}, "digest"))


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, IdentifiedCheckpoint]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return {
        family: identify(write_sparse(folder / f"{family}.safetensors", keys))
        for family, keys in CHECKPOINTS.items()
    }


# Each dialect, and some of them in each family.
OFTEN = [name for number, name in enumerate(layouts()) if name.startswith("sd1") or number % 2]
every_layout = pytest.mark.parametrize("name", thinned(layouts(), OFTEN))


@every_layout
def test_each_key_is_placed_on_the_weight_it_means(
    name: str, checkpoints: dict[str, IdentifiedCheckpoint]
) -> None:
    layout, checkpoint = layouts()[name], checkpoints[name.partition(":")[0]]
    fitted = fit_lora(file_of(layout), checkpoint)
    assert fitted.unused == ()
    assert fitted.applied == len(layout["keys"])
    found = {
        module.module.layer: (module.target.component, module.target.layer)
        for module in fitted.modules
    }
    assert len(found) == len(fitted.modules)
    assert found == {layer: placed(meaning) for layer, meaning in layout["layers"].items()}
    for module in fitted.modules:
        weight = checkpoint.components[Component(module.target.component)].weights
        assert module.target.name("weight") in weight


@every_layout
def test_family_of_each_layout_is_certain(name: str) -> None:
    purpose = purpose_of(file_of(layouts()[name]))
    assert (purpose.families, purpose.certain) == ((name.partition(":")[0],), True)


def placed(meaning: str) -> tuple[str, str]:
    component, _, layer = meaning.partition(".")
    return COMPONENTS[component], layer
