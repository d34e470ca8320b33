"""Flux.1, Z-Image, FLUX.2 klein, Chroma and SD 3.5 from GGUF files, with encoders in such files."""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array, Backend, Device, DType, Precision
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode, SamplerName, ScheduleName
from engine.checkpoints.known_files import KnownFiles
from engine.compile.compiler import Compiler
from engine.errors import EngineError
from engine.families import identify, supply
from engine.families.parts_index import PartsIndex
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.gguf_files import QUANTIZED, Stored, blocks, write_gguf
from tests.families.flow_models import MODELS, WIDE, Model, Written, write_parts
from tests.families.flux import files as flux
from tests.families.flux.files import FluxSizes, drawn
from tests.families.gguf_parts import (
    WideBackend,
    decibels,
    llama_cpps_name,
    stored_as,
    write_dequantised,
)
from tests.families.listings import Listing, t5_encoder
from tests.families.zimage import files as zimage
from tests.pipeline.jobs import RESIDENCY, a_request, run
from tests.thinned import in_turn, thinned

_log = logging.getLogger(__name__)
# Types that become 4 bits with offsets, in blocks of 32, and 8 bits without, in blocks of 16.
OF_BOTH_WIDTHS = (DType.Q4_K, DType.Q6_K)
# Types with offsets, which are products of their own in 8 bits, and one whose blocks are joined.
CHANGED_IN_8_BITS = (DType.Q4_K, DType.Q4_1, DType.Q2_K, DType.Q6_K)
# Each way of joining and of trimming; `make oracle` has all families.
OFTEN = [(family, DType.Q4_K) for family in ("flux1", "zimage")]
# Weights are unpacked by their type alone, so the families with most files have all types, and each
# family both widths; one family has all of them in `make oracle`.
PICTURED = [
    (family, dtype)
    for family, dtype in product(MODELS, QUANTIZED)
    if family in ("flux1", "chroma") or dtype in OF_BOTH_WIDTHS
]
SELDOM = [("chroma", dtype) for dtype in QUANTIZED if dtype not in OF_BOTH_WIDTHS]
WIDTHS = list(product(MODELS, OF_BOTH_WIDTHS))
# A T5 and a Qwen3 encoder, by families whose encoders are small.
ENCODERS = ("chroma", "zimage")


@pytest.fixture(scope="module")
def write_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Written]:
    """Writes the parts of a family when they are first wanted: tests take families in any order."""

    @cache
    def write(family: str) -> Written:
        return write_parts(tmp_path_factory.mktemp(family), MODELS[family])

    return write


@pytest.fixture(scope="module", params=MODELS)
def written(request: pytest.FixtureRequest, write_once: Callable[[str], Written]) -> Written:
    return write_once(request.param)


def write_transformer(path: Path, model: Model, dtype: DType) -> Path:
    """The transformer as city96's converter and llama-quantize write it."""
    stored = stored_as(drawn(model.transformer), dtype, model.plain)
    for name in model.trimmed:
        tensor = stored[name]
        stored[name] = type(tensor)(tensor.dtype, tensor.shape[1:], tensor.raw)
    return write_gguf(path, stored, {"general.architecture": model.architecture})


def write_encoder(path: Path, model: Model, dtype: DType) -> Path:
    """The text encoder as llama.cpp converts it."""
    kind = model.encoder_architecture
    numbers: Mapping[str, Array] = {
        llama_cpps_name(name, kind): array for name, array in drawn(model.encoder, 1).items()
    }
    return write_gguf(path, stored_as(numbers, dtype), {"general.architecture": kind})


def picture(
    path: Path,
    parts: ComponentFiles,
    backend: Callable[[], Backend] = CpuBackend,
    precision: Precision = Precision.F32,
) -> NDArray[np.uint8]:
    request = a_request(
        path,
        components=parts,
        width=96,
        height=64,
        steps=2,
        seed=7,
        prompt="a red house by the sea",
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        guidance=1.0,
    )
    return np.asarray(run(request, backend(), (precision,), residency=RESIDENCY).pixels[0])


@pytest.mark.parametrize(
    ("written", "dtype"), thinned(PICTURED, OFTEN, seldom=SELDOM), indirect=["written"]
)
def test_a_picture_is_that_of_the_dequantised_transformer(
    written: Written, dtype: DType, tmp_path: Path
) -> None:
    """At least 40 dB with weights that stay in blocks."""
    model = written.model
    quantised = write_transformer(tmp_path / f"{model.name}-{dtype}.gguf", model, dtype)
    found = identify(quantised)
    assert found.family == model.family
    whole = write_dequantised(tmp_path / f"{model.name}.safetensors", quantised, model.transformer)
    expected = picture(whole, written.parts)
    assert expected.std() > 1
    assert decibels(picture(quantised, written.parts), expected) > 40


@pytest.mark.parametrize(
    ("written", "dtype"),
    thinned(
        WIDTHS,
        [("zimage", DType.Q6_K)],
        seldom=set(WIDTHS) - set(in_turn(list(MODELS), OF_BOTH_WIDTHS)),
    ),
    indirect=["written"],
)
def test_openvinos_picture_is_that_of_the_dequantised_transformer(
    written: Written, dtype: DType, tmp_path: Path
) -> None:
    """At least 40 dB beside ONNX Runtime with weights of 32 bits."""
    model = written.model
    quantised = write_transformer(tmp_path / f"{model.name}-{dtype}.gguf", model, dtype)
    whole = write_dequantised(tmp_path / f"{model.name}.safetensors", quantised, model.transformer)
    found = picture(quantised, written.parts, OpenVinoBackend)
    assert decibels(found, picture(whole, written.parts)) > 40


@pytest.mark.parametrize(
    ("written", "dtype"),
    thinned(
        list(product(MODELS, CHANGED_IN_8_BITS)),
        [("chroma", DType.Q4_K), ("zimage", DType.Q6_K)],
    ),
    indirect=["written"],
)
def test_openvinos_picture_in_8_bits_is_close_to_that_in_float32(
    written: Written, dtype: DType, tmp_path: Path
) -> None:
    """`python -m pytest --log-cli-level=INFO` prints the decibels beside float32."""
    if Precision.INT8 not in OpenVinoBackend().probe()[-1].precisions:
        pytest.skip("this processor has no instructions for 8 bits")
    model = written.model
    quantised = write_transformer(tmp_path / f"{model.name}-{dtype}.gguf", model, dtype)
    expected = picture(quantised, written.parts, OpenVinoBackend)
    rounded = picture(quantised, written.parts, OpenVinoBackend, Precision.INT8)
    found = decibels(rounded, expected)
    _log.info("%s, %s, computed in 8 bits: %.1f dB", model.name, dtype, found)
    assert 45 < found < float("inf")


@pytest.mark.parametrize("written", ["chroma"], indirect=True)
def test_the_plan_counts_products_with_offsets_twice_where_they_are_rounded(
    written: Written, tmp_path: Path
) -> None:
    model, precisions = written.model, (Precision.F32, Precision.INT8)
    device = Device("intel_openvino", "cpu", "", precisions)
    compiler = Compiler(OpenVinoBackend(), device, WorkingCopies(tmp_path / "copies"))
    taken: list[int] = []
    for dtype in (DType.Q4_K, DType.Q4_0):
        path = write_transformer(tmp_path / f"{model.name}-{dtype}.gguf", model, dtype)
        network = identify(path).architecture.denoiser.network(256, 256)
        taken += [compiler.runs_bytes(((network, precision),)) for precision in precisions]
    exact, rounded, *without_offsets = taken
    assert rounded > exact == without_offsets[0] == without_offsets[1]


@pytest.mark.parametrize("written", thinned(MODELS, ["zimage"]), indirect=True)
def test_norms_and_all_layers_may_be_in_blocks(written: Written, tmp_path: Path) -> None:
    """stable-diffusion.cpp converts every tensor but biases and scales, Z-Image's padding, too."""
    model = written.model
    stored = stored_as(drawn(model.transformer), DType.Q8_0, lists=True)
    quantised = write_gguf(tmp_path / f"{model.name}.gguf", stored)
    whole = write_dequantised(tmp_path / f"{model.name}.safetensors", quantised, model.transformer)
    assert decibels(picture(quantised, written.parts), picture(whole, written.parts)) > 40


@pytest.mark.parametrize(
    ("written", "dtype"),
    thinned(
        [*product(MODELS, [DType.Q4_K]), ("chroma", DType.Q4_0)],
        [(encoder, DType.Q4_K) for encoder in ENCODERS],
    ),
    indirect=["written"],
)
def test_a_picture_is_that_of_the_dequantised_encoder(
    written: Written, dtype: DType, tmp_path: Path
) -> None:
    """Bit for bit with numbers of 32 bits; at least 40 dB with weights that stay in blocks."""
    model = written.model
    transformer = write_transformer(tmp_path / f"{model.name}.gguf", model, dtype)
    encoder = write_encoder(tmp_path / f"encoder-{dtype}.gguf", model, dtype)
    whole = write_dequantised(tmp_path / "encoder.safetensors", encoder, model.encoder)
    made = [
        picture(transformer, with_part(written.parts, model.encoder_part, file), backend)
        for file, backend in ((whole, WideBackend), (encoder, WideBackend), (encoder, CpuBackend))
    ]
    assert np.array_equal(made[0], made[1])
    assert decibels(made[2], made[0]) > 40


def test_files_are_recognised_and_fill_gaps(written: Written, tmp_path: Path) -> None:
    model = written.model
    checkpoint = identify(write_transformer(tmp_path / f"{model.name}.gguf", model, DType.Q8_0))
    encoder = write_encoder(tmp_path / "encoder.gguf", model, DType.Q4_K)
    index = PartsIndex(tmp_path, KnownFiles(tmp_path / "known"))
    fits = {
        gap.component: [Path(fit.path).name for fit in gap.fits] for gap in index.gaps(checkpoint)
    }
    wanted = {"vae", model.encoder_part, *model.clips}
    # T5 of SD 3 is never missing.
    assert set(fits) == wanted - ({"text_encoder_3"} if model.family == "sd3" else set())
    if model.encoder_part in fits:
        assert fits[model.encoder_part] == [encoder.name]


@pytest.mark.parametrize(
    ("model", "listing", "architecture", "words"),
    [
        ("zimage", zimage.qwen3(128), "qwen3", f"needs one {WIDE} wide"),
        ("flux2", zimage.qwen3(128, layers=28), "qwen3", f"needs one {WIDE} wide"),
        ("flux2", zimage.qwen3(WIDE, layers=27), "qwen3", "more than 27"),
        ("chroma", t5_encoder(128), "t5encoder", f"needs one {WIDE} wide"),
        ("zimage", t5_encoder(WIDE), "t5encoder", "it is a T5 text encoder"),
        ("chroma", zimage.qwen3(WIDE), "qwen3", "it is a Qwen3 text encoder"),
    ],
)
def test_an_encoder_that_does_not_fit_is_refused_with_the_reason(
    model: str, listing: Listing, architecture: str, words: str, tmp_path: Path
) -> None:
    """Shapes decide: the encoder has no numbers but zeros."""
    zeros = {
        llama_cpps_name(name, architecture): Stored(DType.F16, shape, bytes(2 * prod(shape)))
        for name, shape in listing.items()
    }
    kind = {"general.architecture": architecture}
    encoder = write_gguf(tmp_path / "encoder.gguf", zeros, kind)
    entry = MODELS[model]
    checkpoint = identify(write_transformer(tmp_path / f"{entry.name}.gguf", entry, DType.Q4_0))
    with pytest.raises(EngineError) as caught:
        supply(checkpoint, ComponentFiles(text_encoder=str(encoder)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert words in caught.value.message


def test_a_list_in_blocks_that_its_parts_would_cut_is_refused(tmp_path: Path) -> None:
    """The bias of a single block's joined layer has parts of 64 numbers in a block of 256."""
    stored = stored_as(drawn(flux.original(FluxSizes(64, 32, 64, 48, 24, 1, 1))), DType.Q8_0)
    stored["single_blocks.0.linear1.bias"] = blocks(DType.Q4_K, (256,))
    with pytest.raises(EngineError, match="are no whole blocks of Q4_K"):
        identify(write_gguf(tmp_path / "a.gguf", stored))


def with_part(parts: ComponentFiles, part: str, path: Path) -> ComponentFiles:
    known = {name: getattr(parts, name) for name in parts.__struct_fields__}
    return ComponentFiles(**(known | {part: str(path)}))
