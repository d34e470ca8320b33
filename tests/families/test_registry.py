"""Families are registered by name, and one that cannot be imported stops no other."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families import Component, identify, require_complete, supply
from engine.families.parts_index import PartsIndex
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.pebble import PebbleConfig
from tests.families.test_identify import SMALL

REASON = "ImportError: no such network"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A family that raises when it is imported, registered after the others."""
    (tmp_path / "broken_family").mkdir()
    (tmp_path / "broken_family" / "__init__.py").write_text('raise ImportError("no such network")')
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with FAMILIES.added("broken_family"):
        yield
    sys.modules.pop("broken_family", None)


def failure(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        identify(path)
    return caught.value


@pytest.mark.usefixtures("broken")
def test_other_families_work_beside_a_broken_one(tmp_path: Path) -> None:
    assert identify(write_sparse(tmp_path / "x.safetensors", SMALL)).family == "sd1"
    assert len(FAMILIES.names) == len(FAMILIES.modules) - 1
    assert [(family.name, family.reason) for family in FAMILIES.broken] == [
        ("broken_family", REASON)
    ]


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("names", [{"blocks.0.weight": (4, 4)}, other_listings.aura_flow()])
def test_a_broken_family_is_named_for_a_file_of_no_other(
    tmp_path: Path, names: listings.Listing
) -> None:
    error = failure(write_sparse(tmp_path / "x.safetensors", names))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert f"could not be loaded: broken_family ({REASON})." in error.hint


@pytest.mark.usefixtures("broken")
def test_a_broken_family_that_a_person_names_is_named_in_the_error() -> None:
    with pytest.raises(EngineError) as caught:
        FAMILIES.named("broken_family")
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert f"broken_family ({REASON})" in caught.value.hint


def test_a_module_without_a_family_is_a_broken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no_family.py").write_text("FAMILY = 1")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with FAMILIES.added("no_family"):
        assert [family.reason for family in FAMILIES.broken] == ["TypeError: FAMILY is a int"]
    assert FAMILIES.broken == ()


def test_a_further_family_is_registered_for_the_length_of_a_block() -> None:
    before = FAMILIES.names
    with FAMILIES.added("tests.families.pebble"):
        assert FAMILIES.names == (*before, "pebble")
    assert FAMILIES.names == before


def test_errors_name_the_families_that_are_registered(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", {"blocks.0.weight": (4, 4)})
    titles = ", ".join(family.title for family in FAMILIES)
    assert titles.startswith("SD 1.x, SD 2.x, SDXL, ")
    assert failure(path).hint == f"Choose a model of one of these: {titles}."
    with FAMILIES.added("tests.families.pebble"):
        assert failure(path).hint == f"Choose a model of one of these: {titles}, Pebble."


# --- a family that brings keys, folders and components of its own ---

READER: listings.Listing = {"pebble_text.layer0.mixing.weight": (8, 8)}
DENOISER: listings.Listing = {
    "pebble.block0.mixing.to_qkv.weight": (24, 8),
    "pebble.block1.mixing.to_qkv.weight": (24, 8),
    "pebble.in.weight": (8, 64),
}
# Alone, such a layer tells a VAE of Stable Diffusion.
PEBBLE_VAE: listings.Listing = {"pebble_vae.decoder.conv_in.weight": (8, 16, 3, 3)}
PEBBLE = READER | DENOISER | PEBBLE_VAE


@pytest.fixture
def pebble() -> Iterator[None]:
    with FAMILIES.added("tests.families.pebble"):
        yield


@pytest.mark.usefixtures("pebble")
def test_a_further_family_brings_its_own_keys(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", PEBBLE))
    assert (checkpoint.family, checkpoint.missing) == ("pebble", ())
    denoiser = checkpoint.components[Component.DENOISER]
    assert denoiser.config == PebbleConfig(blocks=2)
    assert sorted(denoiser.weights)[0] == "blocks.0.mixing.to_qkv.weight"


@pytest.mark.usefixtures("pebble")
def test_a_further_family_names_its_components(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", DENOISER | PEBBLE_VAE))
    with pytest.raises(EngineError, match=r"x\.safetensors has no reader of the text\."):
        require_complete(checkpoint)
    strange = write_sparse(tmp_path / "y.safetensors", DENOISER | {"pebble.block0.x": (1,)})
    assert failure(strange).message.startswith("The denoiser (transformer) of y.safetensors has ")


@pytest.mark.usefixtures("pebble")
def test_a_further_family_brings_its_own_folders(tmp_path: Path) -> None:
    for name, names in (("transformer", DENOISER), ("text_encoder", READER), ("vae", PEBBLE_VAE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        own = {key.partition(".")[2]: shape for key, shape in names.items()}
        write_sparse(tmp_path / name / "model.safetensors", own)
    (tmp_path / "model_index.json").write_text('{"_class_name": "PebblePipeline"}')
    checkpoint = identify(tmp_path)
    assert (checkpoint.family, checkpoint.missing) == ("pebble", ())


@pytest.mark.usefixtures("pebble")
def test_a_further_family_finds_and_takes_its_parts(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", DENOISER | PEBBLE_VAE))
    part = write_sparse(tmp_path / "reader.safetensors", READER)
    write_sparse(tmp_path / "clip.safetensors", listings.clip_text())
    index = PartsIndex(tmp_path, KnownFiles(tmp_path / "known"))
    (gap,) = index.gaps(checkpoint)
    assert (str(gap.label), [fit.path for fit in gap.fits]) == ("reader of the text", [str(part)])
    supplied = supply(checkpoint, ComponentFiles(text_encoder=str(part)))
    assert supplied.missing == ()
    with pytest.raises(EngineError, match="cannot supply the reader of the text: it is a CLIP"):
        supply(checkpoint, ComponentFiles(text_encoder=str(tmp_path / "clip.safetensors")))


@pytest.mark.usefixtures("pebble")
def test_no_family_takes_the_denoiser_of_another(tmp_path: Path) -> None:
    pebble = str(write_sparse(tmp_path / "x.safetensors", DENOISER))
    sd1 = identify(write_sparse(tmp_path / "y.safetensors", SMALL))
    with pytest.raises(EngineError, match="it is of the family Pebble"):
        supply(sd1, ComponentFiles(denoiser=pebble))
