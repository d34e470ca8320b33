"""The plan rounds weights where the exact ones do not fit, in an order, and says so."""

import re
from collections.abc import Callable
from functools import cache

import msgspec
import numpy as np
import pytest

from backends.base import DType
from engine.api.remedies import MakeSmaller, RaiseMemoryLimit, Remedy
from engine.api.request import ComponentFiles, GenerateRequest
from engine.api.values import ErrorCode, TextWeightBits, WeightBits
from engine.errors import EngineError
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import JobPlan, plan_job
from engine.jobs.roundings import bits_of
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.memory.shortages import Shortages
from engine.metadata.readers import read_request
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import resolve_job
from engine.weights.rounding import EXACT, Rounding
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.flow_models import WIDE, Model, write_parts
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.gguf_parts import WideBackend
from tests.families.listings import Listing, VaeSizes
from tests.jobs.machines import GB, Machine
from tests.jobs.test_weight_bits import Bench, flow_request
from tests.pipeline.jobs import a_request

Plan = Callable[..., JobPlan]


def t5(width: int, heads: int, feed_forward: int, layers: int) -> Listing:
    """T5 v1.1's encoder in any size; a head has 64 numbers."""
    inner, last = 64 * heads, "encoder.final_layer_norm.weight"
    names: Listing = {"shared.weight": (32128, width), last: (width,)}
    for layer in range(layers):
        block = f"encoder.block.{layer}.layer"
        names |= {f"{block}.0.SelfAttention.{part}.weight": (inner, width) for part in "qkv"}
        names[f"{block}.0.SelfAttention.o.weight"] = width, inner
        names |= {f"{block}.1.DenseReluDense.wi_{n}.weight": (feed_forward, width) for n in "01"}
        names[f"{block}.1.DenseReluDense.wo.weight"] = width, feed_forward
        names |= {f"{block}.{place}.layer_norm.weight": (width,) for place in (0, 1)}
    bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    return names | {bias: (32, heads)}


@pytest.fixture(scope="module")
def flux(tmp_path_factory: pytest.TempPathFactory) -> GenerateRequest:
    """A request of Flux.1 dev in bfloat16 at full size, whose files have no numbers."""
    folder = tmp_path_factory.mktemp("flux")
    parts = {
        "text_encoder": listings.clip_text(),
        "text_encoder_2": t5(4096, 64, 10240, 24),
        "vae": listings.flow_vae(VaeSizes(latent=16)),
    }
    written = {
        part: str(write_sparse(folder / f"{part}.safetensors", listing, DType.BF16))
        for part, listing in parts.items()
    }
    path = write_sparse(folder / "flux1-dev.safetensors", files.original(), DType.BF16)
    return a_request(path, components=ComponentFiles(**written), width=1024, height=1024)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> JobServices:
    """The services of an engine: what was counted for one plan is known to the next."""
    return JobServices.in_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def planned(flux: GenerateRequest, services: JobServices) -> Plan:
    """Plans one request again and again."""

    checkpoints = load_checkpoints(flux)

    @cache
    def read_once(request: GenerateRequest) -> ReadJob:
        return read_job(resolve_job(request, checkpoints))

    def plan(machine: Machine, limit: int | None = None, **changes: object) -> JobPlan:
        request = msgspec.structs.replace(flux, **changes)
        on_card = machine.card and limit is not None
        allowance = MemoryAllowance(device_limit_bytes=limit) if on_card else MemoryAllowance(limit)
        return plan_job(read_once(request), machine.candidate, services, allowance)

    return plan


@pytest.mark.parametrize(
    ("free", "text_encoder", "denoiser"),
    [(64, 16, 16), (44, 16, 8), (28, 8, 8), (15, 8, 4), (11, 4, 4)],
)
def test_a_processor_rounds_no_more_than_its_memory_asks_for(
    planned: Plan, free: int, text_encoder: int, denoiser: int
) -> None:
    """Flux.1 takes 48 GB of float32 there, 13 GB in 8 bits and 7 in 4; T5 19, 5 and 3."""
    plan = planned(Machine(free * GB))
    assert plan.compiler.rounding == Rounding(text_encoder, denoiser)
    assert plan.memory.fits
    assert plan.memory.peak_bytes + plan.memory.mapped_bytes <= free * GB


@pytest.mark.parametrize(
    ("free", "text_encoder", "denoiser"),
    [(64, 16, 16), (22, 16, 8), (16, 8, 8), (12, 8, 4)],
)
def test_a_card_rounds_no_more_than_its_own_memory_asks_for(
    planned: Plan, free: int, text_encoder: int, denoiser: int
) -> None:
    plan = planned(Machine(free * GB, card=True))
    assert plan.compiler.rounding == Rounding(text_encoder, denoiser)
    # The same by the user's limit, on a larger card.
    forced = planned(Machine(96 * GB, card=True), limit=free * GB)
    assert forced.compiler.rounding == plan.compiler.rounding


def test_a_card_that_was_short_of_memory_twice_rounds_more(
    flux: GenerateRequest, services: JobServices
) -> None:
    """Where weights cannot be streamed, nothing else needs less than what failed."""
    own = msgspec.structs.replace(services, shortages=Shortages())
    card, read = Machine(64 * GB, card=True), read_job(resolve_job(flux, load_checkpoints(flux)))

    def plan() -> JobPlan:
        return plan_job(read, card.candidate, own, MemoryAllowance())

    first = plan()
    for rounding in (EXACT, EXACT, Rounding(16, 8)):
        found = plan()
        assert found.compiler.rounding == rounding
        assert found.memory.fits
        own.shortages.note(card.candidate.device, first.memory)


def test_exact_weights_are_read_in_place_where_they_are_free_beside_the_plan(planned: Plan) -> None:
    limit = 20 * GB
    stays = planned(Machine(64 * GB), limit=limit)
    assert stays.compiler.rounding == EXACT
    assert stays.memory.placement is WeightPlacement.IN_PLACE
    needed = stays.memory.peak_bytes + stays.memory.mapped_bytes
    assert 48 * GB < needed < 64 * GB
    assert planned(Machine(needed), limit=limit).compiler.rounding == EXACT
    assert planned(Machine(needed - 1), limit=limit).compiler.rounding == Rounding(16, 8)


def test_weights_of_a_wish_are_not_rounded_further(planned: Plan) -> None:
    small = Machine(12 * GB)
    assert planned(small, weight_bits=WeightBits.ALL).compiler.rounding == EXACT
    eight = planned(small, weight_bits=WeightBits.EIGHT)
    assert eight.compiler.rounding == Rounding(8, 8)
    text = planned(small, text_weight_bits=TextWeightBits.ALL)
    assert text.compiler.rounding == Rounding(16, 4)
    denoiser = planned(small, weight_bits=WeightBits.FOUR, text_weight_bits=TextWeightBits.EIGHT)
    assert denoiser.compiler.rounding == Rounding(8, 4)


def test_bits_that_nothing_holds_are_not_chosen(planned: Plan) -> None:
    class Wide(WideBackend, Machine):
        """A machine that holds no blocks."""

    wide = Wide(64 * GB, card=True)
    assert planned(wide).compiler.rounding == EXACT
    with pytest.raises(EngineError) as full:
        planned(Wide(16 * GB, card=True))
    assert full.value.code is ErrorCode.OUT_OF_MEMORY
    with pytest.raises(EngineError) as refused:
        planned(wide, text_weight_bits=TextWeightBits.FOUR)
    assert refused.value.code is ErrorCode.REQUEST_INVALID
    assert "4 bits" in str(refused.value)


def test_a_refusal_offers_the_size_that_it_says_fits(planned: Plan) -> None:
    with pytest.raises(EngineError) as refused:
        planned(Machine(96 * GB, card=True), limit=int(8.7 * GB))
    smaller = next(remedy for remedy in refused.value.remedies if isinstance(remedy, MakeSmaller))
    assert smaller.fitting is not None
    width, height = smaller.fitting
    said = f"A picture of {width} × {height} would fit."  # noqa: RUF001
    assert said == str(refused.value.advice)


def test_a_refusal_says_what_would_fit(planned: Plan) -> None:
    remedies: list[Remedy] = []

    def refusal(gb: float, **changes: object) -> str:
        with pytest.raises(EngineError) as refused:
            planned(Machine(96 * GB, card=True), limit=int(gb * GB), **changes)
        assert refused.value.code is ErrorCode.OUT_OF_MEMORY
        assert f"{gb:.2f} GB may be used" in str(refused.value)
        remedies[:] = refused.value.remedies
        return str(refused.value.advice)

    exact = refusal(18, weight_bits=WeightBits.ALL)
    told = re.fullmatch(r"With weights in 8 bits it needs about (\d+\.\d\d) GB\.", exact)
    assert told
    as_told = float(told[1]) + 0.01
    assert planned(Machine(int(as_told * GB), card=True)).compiler.rounding == Rounding(8, 8)
    assert "weights in 4 bits" in refusal(12, weight_bits=WeightBits.EIGHT)
    smaller = re.fullmatch(r"A picture of (\d+) × (\d+) would fit\.", refusal(8.7))  # noqa: RUF001
    assert smaller
    width, height = map(int, smaller.groups())
    fitting = MakeSmaller(width=1024, height=1024, fitting=(width, height))
    assert remedies == [fitting, RaiseMemoryLimit()]
    assert 64 < width == height < 1024
    card = Machine(96 * GB, card=True)
    limit = int(8.7 * GB)
    assert planned(card, limit=limit, width=width, height=height).memory.fits
    with pytest.raises(EngineError):
        planned(card, limit=limit, width=width + 64, height=height + 64)
    assert re.fullmatch(r"Smaller pictures need \d\.\d\d GB, too\.", refusal(3))
    # A smaller one is no remedy then.
    assert remedies == [RaiseMemoryLimit()]


# --- pictures ---


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A small Flux.1 whose layers are more than its table of words, and T5 more than the rest."""
    folder = tmp_path_factory.mktemp("fitting")
    sizes = FluxSizes(WIDE, 32, 1024, WIDE, 64, 6, 12)
    model = Model(
        "flux",
        "flux1-dev",
        "flux",
        files.original(sizes),
        t5(WIDE, 4, 4096, 8),
        "t5encoder",
        encoder_part="text_encoder_2",
        clips=("text_encoder",),
    )
    path = folder / "flux1-dev.safetensors"
    write_arrays(path, files.drawn(model.transformer))
    request = flow_request(path, write_parts(folder, model).parts)
    return Bench(folder, msgspec.structs.replace(request, steps=1))


def falling(runner: JobRunner, request: GenerateRequest) -> dict[Rounding, int]:
    """The roundings of a request's plans while its limit falls, each with its least peak."""
    found: dict[Rounding, int] = {}
    limit: int | None = None
    while True:
        tight = msgspec.structs.replace(request, device_memory_limit_bytes=limit)
        try:
            outlook = runner.outlook(tight)
        except EngineError:
            return found
        found[Rounding(outlook.text_encoder_bits, outlook.denoiser_bits)] = outlook.peak_bytes
        limit = outlook.peak_bytes - 1


@pytest.mark.oracle
def test_pictures_of_a_tight_plan_say_their_bits_and_are_made_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card is filled to the last byte by each rounding in turn."""
    runner = JobRunner(bench.services)
    Machine(GB, card=True).be_the_only_one(monkeypatch)
    found = falling(runner, bench.request)
    assert list(found) == [
        EXACT,
        Rounding(8, 16),
        Rounding(8, 8),
        Rounding(4, 8),
    ]
    _, record, exact = bench.made(bench.request)
    assert bits_of(record.request.weight_bits, record.request.text_weight_bits) == EXACT
    for rounding, peak in list(found.items())[1:3]:
        tight = msgspec.structs.replace(bench.request, device_memory_limit_bytes=peak)
        # A cache of its own: a text that is known in 16 bits needs no rounded encoder.
        path, record, pixels = Bench(bench.folder / f"{rounding}", tight).made(tight)
        said = record.request.weight_bits, record.request.text_weight_bits
        assert bits_of(*said) == rounding
        assert (said[1] is TextWeightBits.SAME) is (rounding.text_encoder == rounding.denoiser)
        assert not np.array_equal(pixels, exact)
        # The same bits where there is room for all.
        again = read_request(path).request
        assert again.device_memory_limit_bytes is None
        np.testing.assert_array_equal(bench.made(again)[2], pixels)
