"""Pictures of weights that were rounded to 8 and 4 bits because the request asks for it.

`python -m pytest --log-cli-level=INFO tests/jobs/test_weight_bits.py` prints the decibels.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import DType, Precision
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend
from engine.api.record import GenerationRecord
from engine.api.request import ComponentFiles, GenerateRequest
from engine.api.values import (
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Preparation
from engine.families import Component, identify
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.metadata.readers import read_request
from engine.output import Destination
from engine.weights.rounding import Rounding
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.families.flow_models import MODELS, write_parts
from tests.families.flux.files import drawn
from tests.families.flux.test_gguf import write_pair
from tests.families.gguf_parts import decibels
from tests.pipeline.jobs import a_request
from tests.thinned import thinned
from tests.tiny_checkpoint import write_checkpoint

_log = logging.getLogger(__name__)
# Roundings, and decibels of a picture beside that of the file's own weights, at least.
LEAST = {
    (WeightBits.EIGHT, TextWeightBits.SAME): 45.0,
    (WeightBits.FOUR, TextWeightBits.SAME): 25.0,
    (WeightBits.ALL, TextWeightBits.EIGHT): 50.0,
    (WeightBits.ALL, TextWeightBits.FOUR): 30.0,
}


class Bench:
    """A model's request, and what makes pictures of it."""

    def __init__(self, folder: Path, request: GenerateRequest) -> None:
        self.request, self.folder = request, folder
        self.services = JobServices.in_cache(folder / "cache")
        self._count = 0

    def made(self, request: GenerateRequest) -> tuple[Path, GenerationRecord, NDArray[np.uint8]]:
        """The file of a request's picture, its record and its pixels."""
        self._count += 1
        saver = PictureSaver(Destination(self.folder / str(self._count)))
        runner = JobRunner(self.services)
        (image,) = runner.run(request, saver, SilentReporter(), CancelToken()).images
        with Image.open(image.path) as opened:
            return image.path, image.record, np.asarray(opened.convert("RGB"))


def flux(folder: Path) -> GenerateRequest:
    whole = write_pair(folder, DType.Q8_0)[2]
    return flow_request(whole, ComponentFiles())


def zimage(folder: Path) -> GenerateRequest:
    model = MODELS["zimage"]
    written = write_parts(folder, model)
    path = folder / f"{model.name}.safetensors"
    write_arrays(path, drawn(model.transformer))
    return flow_request(path, written.parts)


def flow_request(path: Path, parts: ComponentFiles) -> GenerateRequest:
    return a_request(
        path,
        components=parts,
        width=96,
        height=64,
        steps=2,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        guidance=1.0,
        backend="cpu",
    )


def unet(folder: Path) -> GenerateRequest:
    return a_request(write_checkpoint(folder / "tiny"), backend="cpu", steps=2)


MAKERS: Mapping[str, Callable[[Path], GenerateRequest]] = {
    "Flux.1": flux,
    "Z-Image": zimage,
    "SD 1.5": unet,
}


@pytest.fixture(scope="module", params=thinned(MAKERS, ["SD 1.5"]))
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("bits")
    return Bench(folder, MAKERS[request.param](folder))


def test_pictures_of_rounded_weights_are_close_and_made_again(
    bench: Bench, request: pytest.FixtureRequest
) -> None:
    """The record says the bits, so that the picture is made again with the same pixels."""
    _, plain, expected = bench.made(bench.request)
    assert plain.request.weight_bits is WeightBits.ALL
    assert expected.std() > 1
    name, found = request.node.callspec.params["bench"], list[float]()
    for (bits, texts), least in LEAST.items():
        changed = msgspec.structs.replace(bench.request, weight_bits=bits, text_weight_bits=texts)
        path, record, pixels = bench.made(changed)
        assert (record.request.weight_bits, record.request.text_weight_bits) == (bits, texts)
        found.append(decibels(pixels, expected))
        _log.info("%s, %s bits, text encoders %s: %.1f dB", name, bits, texts, found[-1])
        assert least < found[-1] < float("inf")
        again = read_request(path).request
        assert (again.weight_bits, again.text_weight_bits) == (bits, texts)
        if texts is not TextWeightBits.SAME:
            np.testing.assert_array_equal(bench.made(again)[2], pixels)
    assert found[0] > found[1]
    assert found[2] > found[3]
    np.testing.assert_array_equal(bench.made(bench.request)[2], expected)


def test_pictures_computed_in_8_bits_are_close_and_made_again(
    bench: Bench, request: pytest.FixtureRequest
) -> None:
    cpu = OpenVinoBackend().probe()[-1]
    if Precision.INT8 not in cpu.precisions:
        pytest.skip("this processor has no instructions for 8 bits")
    changed = msgspec.structs.replace(
        bench.request,
        backend="intel_openvino",
        weight_bits=WeightBits.EIGHT,
        precision=PrecisionName.F32,
    )
    expected = bench.made(changed)[2]
    rounded = msgspec.structs.replace(changed, precision=PrecisionName.INT8)
    path, record, pixels = bench.made(rounded)
    assert record.request.precision is PrecisionName.INT8
    found = decibels(pixels, expected)
    _log.info("%s, computed in 8 bits: %.1f dB", request.node.callspec.params["bench"], found)
    assert 35 < found < float("inf")
    np.testing.assert_array_equal(bench.made(read_request(path).request)[2], pixels)


def test_copies_of_rounded_weights_are_as_large_as_was_said_and_kept_apart(bench: Bench) -> None:
    backend, checkpoint = CpuBackend(), identify(Path(bench.request.checkpoint or ""))
    weights = checkpoint.weights_of(Component.DENOISER)
    network = checkpoint.architecture.denoiser.network(64, 64)
    copies, said = WorkingCopies(bench.folder / "copies"), list[int]()
    before = frozenset[str]()
    for bits in (8, 4):
        rounding = Rounding(denoiser=bits)
        compiler = Compiler(backend, backend.probe()[0], copies, rounding=rounding)
        assert compiler.repacks(weights, Precision.F32)
        assert not compiler.has_copy(weights, Precision.F32)
        said.append(compiler.converted_bytes(weights, Precision.F32))
        prepared = compiler.prepared(network, Precision.F32)
        assert prepared.preparation() is Preparation.CONVERT
        place = WeightPlacement.WORKING_COPY
        prepared.load(place, lambda _done, _total: None, CancelToken()).close()
        assert prepared.preparation() is Preparation.LOAD
        assert compiler.has_copy(weights, Precision.F32)
        (copy,) = (copy for copy in copies.listed() if copy.name not in before)
        before |= {copy.name}
        # A copy has the weights that are in no blocks, too, where it has any.
        dense = sum(weight.elements for weight in weights.values() if len(weight.shape) != 2) * 4
        assert said[-1] < 1.1 * copy.bytes
        assert copy.bytes < 1.2 * said[-1] + dense
    assert said[1] < said[0]
    plain = Compiler(backend, backend.probe()[0], copies)
    assert not plain.repacks(weights, Precision.F32)
    assert not plain.has_copy(weights, Precision.F32)
