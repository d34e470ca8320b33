"""Pictures of Z-Image, klein, Chroma and SD 3 with LoRAs beside diffusers' `load_lora_weights`."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:Already found a `peft_config` attribute:UserWarning"),
    # diffusers' own, of a name that its network imports.
    pytest.mark.filterwarnings("ignore:`FluxPosEmbed` is deprecated:FutureWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import Array  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flux2 import files as flux2  # noqa: E402
from tests.oracle import chroma_folder, flux2_folder, sd3_folder, zimage_folder  # noqa: E402
from tests.oracle.diffusers_pictures import opened  # noqa: E402
from tests.oracle.flow_loras import Pair, check_lora, drawn, kohya, peft  # noqa: E402
from tests.oracle.flow_pictures import asked  # noqa: E402


@dataclass(frozen=True)
class Case:
    """A family's folder, diffusers' pipeline, and its guidance as ours and as theirs."""

    write: Callable[[Path], Path]
    pipeline: str
    guidance: tuple[float, float] = (1.0, 1.0)


CASES = {
    "zimage": Case(zimage_folder.write_pipeline, "ZImagePipeline", (1.0, 0.0)),
    "flux2": Case(flux2_folder.write_pipeline, "Flux2KleinPipeline"),
    "chroma": Case(chroma_folder.write_pipeline, "ChromaPipeline", (3.0, 3.0)),
    "sd3": Case(sd3_folder.write_pipeline, "StableDiffusion3Pipeline", (3.0, 3.0)),
}


def factors(shapes: dict[str, tuple[int, ...]]) -> dict[str, Pair]:
    """Factors `up` and `down` for each matrix."""
    random = np.random.default_rng(1)
    return {
        name.removesuffix(".weight"): drawn(random, shape)
        for name, shape in shapes.items()
        if name.endswith(".weight") and len(shape) == 2
    }


def canonical(folder: Path) -> dict[str, Pair]:
    """The changes of a folder's transformer, by diffusers' names; halves have none of their own."""
    weights = identify(folder).components[Component.DENOISER].weights
    shapes = {name: weight.shape for name, weight in weights.items() if "pos_embed" not in name}
    halves = (".shift.", ".scale.")
    return factors({n: s for n, s in shapes.items() if not any(half in n for half in halves)})


def klein_by_original_names(folder: Path) -> dict[str, Pair]:
    """The changes of klein's transformer; diffusers swaps no halves of the last modulation."""
    listing = flux2.original(flux2.SMALL)
    return factors({n: s for n, s in listing.items() if "adaLN" not in n})


def original(changes: dict[str, Pair]) -> dict[str, Array]:
    """A file of AI-toolkit's."""
    return peft(changes, "diffusion_model.")


def klein_for_kohya(folder: Path) -> dict[str, Pair]:
    """Changes as above but of modulations, which diffusers does not read in files of kohya's."""
    return {
        layer: pair
        for layer, pair in klein_by_original_names(folder).items()
        if not ("modulation.lin" in layer or ("modulation_" in layer and "adaLN" not in layer))
    }


def clips(folder: Path) -> dict[str, Array]:
    """Changes to the attention of SD 3's CLIP encoders, which diffusers reads."""
    pairs = {}
    for encoder in (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2):
        weights = identify(folder).components[encoder].weights
        names = [name for name in weights if name.endswith(("q_proj.weight", "v_proj.weight"))]
        pairs |= {f"{encoder.value}.{name}": weights[name].shape for name in names}
    return peft(factors(pairs), "")


def blocks_of(changes: dict[str, Pair]) -> dict[str, Pair]:
    return {layer: pair for layer, pair in changes.items() if "layers." in layer}


FILES = [
    *((family, canonical, peft) for family in CASES),
    ("zimage", canonical, original),
    ("zimage", lambda folder: blocks_of(canonical(folder)), kohya),
    ("flux2", klein_by_original_names, original),
    ("flux2", klein_for_kohya, kohya),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return {name: case.write(tmp_path_factory.mktemp(name)) for name, case in CASES.items()}


@pytest.mark.parametrize(("family", "changes", "dialect"), FILES)
def test_pictures_with_a_lora_equal_diffusers(
    folders, family: str, changes, dialect, tmp_path: Path, monkeypatch
) -> None:
    # kohya's names of klein's layers are Flux.1's: sizes tell them apart, which are small here.
    monkeypatch.setattr("engine.families.lora_purpose.TRANSFORMER_LORAS", ())
    case, folder = CASES[family], folders[family]
    path = tmp_path / "lora.safetensors"
    arrays = dialect(changes(folder))
    write_arrays(path, arrays | (clips(folder) if family == "sd3" else {}))
    ours, theirs = asked(4, case.guidance[0])
    ours["negative_prompt"] = ""
    theirs["guidance_scale"] = case.guidance[1]
    check_lora(opened(getattr(diffusers, case.pipeline), folder), folder, path, ours, theirs)
