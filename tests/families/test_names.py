"""Names of checkpoints that tell their kinds: folders are called as published, with dots."""

from pathlib import Path

import pytest

from engine.families import identify
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.families.chroma import files as chroma
from tests.families.flux import files as flux
from tests.families.listings import Listing
from tests.families.sd3 import files as sd3
from tests.families.test_distillation import SDXL

LISTINGS: dict[str, Listing] = {
    "chroma": chroma.original(),
    "flux": flux.original(),
    "sd3": sd3.original(sd3.LARGE),
    "sdxl": SDXL,
}


def in_folder(tmp_path: Path, family: str, name: str) -> IdentifiedCheckpoint:
    """The parts of a checkpoint as those of a folder of this name, which nothing else tells of."""
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", LISTINGS[family]))
    folder = tmp_path / name
    folder.mkdir(parents=True)
    return FAMILIES.named(checkpoint.family).assemble(folder, checkpoint.parts)


@pytest.mark.parametrize("parent", ["", "models--someone--{}/snapshots"])
@pytest.mark.parametrize(
    ("family", "name", "steps", "guidance"),
    [
        ("chroma", "Chroma1.0-Flash", 8, 1.0),
        ("flux", "FLUX.1-Krea-dev", 28, 4.5),
        ("sd3", "stable-diffusion-3.5-large-turbo", 4, 1.0),
        ("sdxl", "some-mix-v1.5-lightning-4step", 4, 1.0),
    ],
)
def test_a_folder_is_known_by_its_whole_name(
    tmp_path: Path, family: str, name: str, steps: int, guidance: float, parent: str
) -> None:
    """In Hugging Face's cache that is the name of the repository."""
    folder = f"{parent.format(name)}/0123456789abcdef" if parent else name
    checkpoint = in_folder(tmp_path, family, folder)
    hints = FAMILIES.named(checkpoint.family).learnt_hints(checkpoint, None)
    assert hints is not None
    assert (hints.hints.steps, hints.hints.guidance) == (steps, guidance)
