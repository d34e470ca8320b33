"""Flux.1 from GGUF files: the transformer under Black Forest Labs' names, T5 under llama.cpp's."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from backends.intel_openvino import OpenVinoBackend
from engine.api.request import ComponentFiles
from engine.checkpoints.known_files import KnownFiles
from engine.families import identify
from engine.families.parts_index import PartsIndex
from engine.memory.plan import WeightPlacement
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import write_gguf
from tests.families import listings
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.flux.test_pictures import picture
from tests.families.gguf_parts import (
    WideBackend,
    decibels,
    dequantised,
    llama_cpps_name,
    stored_as,
)
from tests.families.listings import ClipSizes
from tests.thinned import thinned

# Rows of 256 numbers, so that every type has whole blocks of them.
SIZES = FluxSizes(256, 32, 512, 256, 64, 1, 1)


def write_pair(folder: Path, dtype: DType) -> tuple[Path, Path, Path]:
    """Write a transformer and a T5 as GGUF, and a whole checkpoint of their numbers."""
    transformer, t5 = files.drawn(files.original(SIZES)), files.drawn(listings.t5_encoder(256), 1)
    flux = write_gguf(
        folder / f"flux-{dtype}.gguf",
        stored_as(transformer, dtype),
        {"general.architecture": "flux"},
    )
    renamed = {llama_cpps_name(name, "t5encoder"): array for name, array in t5.items()}
    encoder = write_gguf(
        folder / f"t5-{dtype}.gguf",
        stored_as(renamed, dtype),
        {"general.architecture": "t5encoder"},
    )
    whole: dict[str, Array] = {}
    for name, prefix, listing in (
        ("vae", "vae.", listings.flow_vae()),
        (
            "clip",
            "text_encoders.clip_l.transformer.",
            listings.clip_text(ClipSizes(width=64, layers=1)),
        ),
    ):
        numbers = files.drawn(listing, 2)
        write_arrays(folder / f"{name}.safetensors", numbers)
        whole |= {prefix + key: array for key, array in numbers.items()}
    for path, prefix in (
        (flux, "model.diffusion_model."),
        (encoder, "text_encoders.t5xxl.transformer."),
    ):
        whole |= {prefix + name: array for name, array in dequantised(path).items()}
    write_arrays(folder / "whole.safetensors", whole)
    return flux, encoder, folder / "whole.safetensors"


def parts_beside(folder: Path, encoder: Path) -> ComponentFiles:
    return ComponentFiles(
        vae=str(folder / "vae.safetensors"),
        text_encoder=str(folder / "clip.safetensors"),
        text_encoder_2=str(encoder),
    )


@pytest.mark.parametrize("dtype", thinned([DType.Q4_0, DType.Q6_K], [DType.Q6_K]))
def test_a_picture_is_that_of_the_dequantised_weights(
    dtype: DType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit with numbers of 32 bits; at least 40 dB with weights that stay in blocks."""
    flux, encoder, whole = write_pair(tmp_path, dtype)
    parts = parts_beside(tmp_path, encoder)
    expected = picture(whole)
    assert expected.std() > 1
    assert decibels(picture(flux, components=parts), expected) > 40
    monkeypatch.setattr("tests.families.flow_pictures.CpuBackend", WideBackend)
    assert np.array_equal(picture(flux, components=parts), expected)


# `tests/families/test_gguf.py` has OpenVINO with blocks of other types.
@pytest.mark.oracle
def test_openvinos_picture_is_that_of_the_dequantised_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least 40 dB beside ONNX Runtime with weights of 32 bits."""
    flux, encoder, whole = write_pair(tmp_path, DType.Q5_K)
    expected = picture(whole)
    monkeypatch.setattr("tests.families.flow_pictures.CpuBackend", OpenVinoBackend)
    assert decibels(picture(flux, components=parts_beside(tmp_path, encoder)), expected) > 40


def test_a_picture_of_weights_read_in_place_is_that_of_packed_ones(tmp_path: Path) -> None:
    """Sums are rounded in another order: a level of a few pixels at most."""
    flux, encoder, _ = write_pair(tmp_path, DType.Q4_0)
    parts = parts_beside(tmp_path, encoder)
    packed = picture(flux, WeightPlacement.WORKING_COPY, components=parts)
    in_place = picture(flux, WeightPlacement.IN_PLACE, components=parts)
    assert decibels(in_place, packed) > 60


def test_gguf_files_are_recognised_and_fill_gaps(tmp_path: Path) -> None:
    flux, encoder, _ = write_pair(tmp_path, DType.Q8_0)
    (tmp_path / "whole.safetensors").unlink()
    checkpoint = identify(flux)
    assert (checkpoint.family, checkpoint.variant) == ("flux1", "dev")
    index = PartsIndex(tmp_path, KnownFiles(tmp_path / "known"))
    gaps = {
        gap.component: [Path(fit.path).name for fit in gap.fits] for gap in index.gaps(checkpoint)
    }
    assert gaps == {
        "text_encoder": ["clip.safetensors"],
        "text_encoder_2": [encoder.name],
        "vae": ["vae.safetensors"],
    }
