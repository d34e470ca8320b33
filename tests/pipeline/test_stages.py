"""Networks are loaded as planned, broken results retried more safely, everything closed."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Timer
from time import monotonic, sleep

import msgspec
import numpy as np
import pytest

from backends.base import (
    Array,
    BackendError,
    Device,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Session,
    ShapeSupport,
    Streaming,
)
from backends.null import Compiling, Script
from engine import result_checks
from engine.api.record import Retry
from engine.api.values import ErrorCode, Phase, PrecisionName
from engine.cancel import CancelToken
from engine.compile.backend_errors import translated_errors
from engine.compile.network import Network
from engine.errors import Cancelled, EngineError
from engine.families import identify
from engine.memory.plan import in_turns
from engine.memory.residency import Residency
from engine.pipeline.canvas.pictures import as_pixels
from engine.pipeline.stages import Stages
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import Log, a_request, make_stages, run
from tests.tiny_checkpoint import DOWNSCALE

NAN, INF = float("nan"), float("inf")
BF16, F32 = Precision.BF16, Precision.F32
ONLY_BF16 = frozenset({BF16})
LATENT = np.zeros((1, 4, 6, 5), np.float32)
NAMES = ("text_encoder", "denoiser", "vae_decoder")


@pytest.fixture
def decoder(tiny: Path) -> Network:
    return identify(tiny).architecture.autoencoder.decoder()


def decode(
    stages: Stages, decoder: Network, *, keep: bool = False, latent: Array = LATENT
) -> Array:
    def work(session: Session) -> Array:
        return stages.call(session, {"latent": latent})["image"]

    return stages.run(Phase.DECODE, decoder, work, result_checks.picture, keep=keep)


def a_retry(phase: Phase, reason: str) -> Retry:
    return Retry(
        phase=phase,
        reason=reason,
        from_precision=PrecisionName.BF16,
        to_precision=PrecisionName.F32,
    )


# --- retries ---


@pytest.mark.parametrize(("offset", "reason"), [(NAN, "not a number"), (INF, "infinite")])
def test_a_broken_result_is_done_again_more_safely_and_recorded(
    tmp_path: Path, decoder: Network, offset: float, reason: str
) -> None:
    backend = CountingBackend({"vae_decoder": Script(offset=offset, precisions=ONLY_BF16)})
    stages = make_stages(backend, tmp_path, (BF16, F32))
    assert np.isfinite(decode(stages, decoder)).all()
    assert stages.retries == [a_retry(Phase.DECODE, reason)]
    assert backend.loads == [("vae_decoder", BF16), ("vae_decoder", F32)]
    # The next one knows.
    decode(stages, decoder)
    assert len(stages.retries) == 1
    assert backend.loads[2:] == [("vae_decoder", F32)]
    assert backend.open_now == []
    assert backend.most_open == 1


def test_a_single_colour_is_a_broken_result_too(tmp_path: Path, decoder: Network) -> None:
    white = Script(offset=5.0, precisions=ONLY_BF16)
    stages = make_stages(CountingBackend({"vae_decoder": white}), tmp_path, (BF16, F32))
    assert not result_checks.is_flat(decode(stages, decoder))
    assert stages.retries == [a_retry(Phase.DECODE, "a single colour")]


def test_a_sound_result_is_not_made_twice(tmp_path: Path, decoder: Network) -> None:
    backend = CountingBackend()
    stages = make_stages(backend, tmp_path, (BF16, F32))
    decode(stages, decoder)
    assert stages.retries == []
    assert backend.loads == [("vae_decoder", BF16)]


def test_a_broken_result_in_the_safest_precision_is_an_error(
    tmp_path: Path, decoder: Network
) -> None:
    backend = CountingBackend({"vae_decoder": Script(offset=NAN)})
    stages = make_stages(backend, tmp_path, (BF16, F32))
    with pytest.raises(EngineError) as caught:
        decode(stages, decoder)
    assert caught.value.code is ErrorCode.NUMERIC_FAILURE
    assert "decode" in caught.value.message
    assert "not a number" in caught.value.message
    assert caught.value.hint or caught.value.remedies
    assert len(stages.retries) == 1
    assert backend.open_now == []


def test_each_network_has_its_own_precision(tmp_path: Path, tiny: Path) -> None:
    backend = CountingBackend({"vae_decoder": Script(offset=NAN, precisions=ONLY_BF16)})
    result = run(a_request(tiny, count=2), backend, (BF16, F32))
    assert result.retries == (a_retry(Phase.DECODE, "not a number"),)
    assert [p for name, p in backend.loads if name != "vae_decoder"] == [BF16] * 3
    assert [p for name, p in backend.loads if name == "vae_decoder"] == [BF16, F32, F32]


@pytest.mark.parametrize(
    ("name", "phase"),
    [("text_encoder", Phase.ENCODE), ("denoiser", Phase.DENOISE), ("vae_decoder", Phase.DECODE)],
)
def test_every_phase_is_checked(tiny: Path, name: str, phase: Phase) -> None:
    backend = CountingBackend({name: Script(offset=NAN, precisions=ONLY_BF16)})
    result = run(a_request(tiny), backend, (BF16, F32))
    assert result.retries == (a_retry(phase, "not a number"),)
    healthy = run(a_request(tiny), CountingBackend(), (BF16, F32))
    np.testing.assert_array_equal(result.pixels, healthy.pixels)


def test_a_broken_denoiser_is_not_run_to_the_end(tiny: Path) -> None:
    backend = CountingBackend({"denoiser": Script(offset=NAN, precisions=ONLY_BF16)})
    result = run(a_request(tiny, steps=10), backend, (BF16, F32))
    assert result.log.steps == [(0, 10), (1, 10), *((i, 10) for i in range(11))]


# --- what is in memory when ---


def test_networks_take_turns(tiny: Path) -> None:
    backend = CountingBackend()
    run(a_request(tiny, count=3), backend)
    # The text encoder, small, may be there while the denoiser loads.
    assert backend.beside <= {frozenset({"text_encoder", "denoiser"})}
    names = [name for name, _ in backend.loads]
    assert sorted(names[:2]) == ["denoiser", "text_encoder"]
    assert names[2:] == ["vae_decoder", *("denoiser", "vae_decoder") * 2]
    assert backend.open_now == []


def test_with_room_denoiser_and_decoder_stay(tiny: Path) -> None:
    backend = CountingBackend()
    together = run(a_request(tiny, count=3), backend, together=True)
    assert sorted(name for name, _ in backend.loads) == sorted(NAMES)
    assert backend.most_open == 2  # and not the text encoder beside them
    assert backend.open_now == []
    in_turns = run(a_request(tiny, count=3), CountingBackend())
    np.testing.assert_array_equal(together.pixels, in_turns.pixels)


def test_a_network_that_failed_does_not_stay(tmp_path: Path, decoder: Network) -> None:
    backend = CountingBackend({"vae_decoder": Script(offset=NAN, precisions=ONLY_BF16)})
    stages = make_stages(backend, tmp_path, (BF16, F32), together=True)
    for _ in range(2):
        decode(stages, decoder, keep=True)
    assert backend.loads == [("vae_decoder", BF16), ("vae_decoder", F32)]
    assert backend.most_open == 1
    stages.close()
    assert backend.open_now == []


# --- where memory runs out ---


class FullBeside(CountingBackend):
    """Has room for one network at a time."""

    def before_load(self, graph: Graph) -> None:
        if self.open_now:
            raise BackendError("cannot allocate 3 GB", out_of_memory=True)


def test_kept_networks_make_room_and_no_latent_is_made_again(tiny: Path) -> None:
    backend = FullBeside()
    result = run(a_request(tiny, count=3), backend, together=True)
    expected = run(a_request(tiny, count=3), CountingBackend())
    np.testing.assert_array_equal(result.pixels, expected.pixels)
    assert result.log.steps == expected.log.steps
    # The networks take turns from then on; one that was loaded ahead was freed before it ran.
    assert [name for name, _ in backend.loads].count("denoiser") in (3, 4)
    assert backend.open_now == []


def test_an_array_that_does_not_fit_is_tried_once_more(tmp_path: Path, decoder: Network) -> None:
    released: list[int] = []
    stages = make_stages(
        CountingBackend(), tmp_path, (F32,), together=True, release=lambda: released.append(1)
    )
    failures = [MemoryError("Unable to allocate 96 GiB")]

    def problem(_image: Array) -> None:
        if failures:
            raise failures.pop()

    def work(session: Session) -> Array:
        return stages.call(session, {"latent": LATENT})["image"]

    assert stages.run(Phase.DECODE, decoder, work, problem).shape[1] == 3
    assert released == [1]
    assert not stages.pool.memory.together
    # Once in a job: there is nothing more to free.
    failures.append(MemoryError("Unable to allocate 96 GiB"))
    with pytest.raises(EngineError) as caught:
        stages.run(Phase.DECODE, decoder, work, problem)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert released == [1]


def of_a_runtime(cause: MemoryError | None = None) -> BackendError:
    """A runtime's failure; with a cause it is that of C++ on the host."""
    error = BackendError("out of memory", out_of_memory=True)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("failure", "is_cards"),
    [
        (of_a_runtime(), True),
        (of_a_runtime(MemoryError("std::bad_alloc")), False),
        (MemoryError("Unable to allocate 96 GiB"), False),
    ],
    ids=["card", "runtime", "array"],
)
def test_a_card_is_not_short_of_memory_where_the_computer_is(
    tmp_path: Path, decoder: Network, failure: Exception, is_cards: bool
) -> None:
    class Apart(CountingBackend):
        """A card with memory of its own."""

        def memory(self, device: Device) -> MemoryInfo:
            return msgspec.structs.replace(super().memory(device), integrated=False)

    failures = [failure]

    def work(session: Session) -> Array:
        with translated_errors(stages.pool.compiler.device):
            if failures:
                raise failures.pop()
        return stages.call(session, {"latent": LATENT})["image"]

    stages = make_stages(Apart(), tmp_path, (F32,), together=True)
    planned = stages.pool.memory
    stages.run(Phase.DECODE, decoder, work, result_checks.picture)
    assert stages.pool.is_short_of_memory
    assert stages.pool.underestimated == (planned if is_cards else None)


class Card(CountingBackend):
    """Streams weights, and has no room for some networks whole; `streamed` has the loads."""

    def __init__(self, *too_large: str) -> None:
        super().__init__()
        self.too_large, self.streamed = too_large, list[tuple[str, bool]]()

    def operators(self, device: Device) -> OperatorSet:
        return msgspec.structs.replace(
            super().operators(device), streaming=Streaming(tables_on_host=True)
        )

    def before_load(self, graph: Graph) -> None:
        streams = graph.room_bytes is not None
        self.streamed.append((graph.name, streams))
        if graph.name in self.too_large and not streams:
            raise BackendError("cannot allocate 3 GB", out_of_memory=True)


def test_a_network_too_large_for_a_card_is_streamed_for_the_rest_of_a_job(tiny: Path) -> None:
    backend = Card("denoiser")
    made = run(a_request(tiny, count=2), backend, together=True)
    expected = run(a_request(tiny, count=2), CountingBackend())
    np.testing.assert_array_equal(made.pixels, expected.pixels)
    # It is tried alone before; other networks are whole.
    assert [load for load in backend.streamed if load[0] == "denoiser"] == [
        ("denoiser", False),
        ("denoiser", False),
        ("denoiser", True),
        ("denoiser", True),
    ]
    assert {load for load in backend.streamed if load[1]} == {("denoiser", True)}
    assert backend.open_now == []
    assert [picture.warnings for picture in made.pictures] == [tuple(made.warnings)] * 2
    (remark,) = made.warnings
    assert remark.code is ErrorCode.OUT_OF_MEMORY
    assert "copied there at each step" in remark.message
    assert expected.warnings == []


@pytest.mark.parametrize("name", NAMES)
def test_every_network_may_be_streamed(tiny: Path, name: str) -> None:
    backend = Card(name)
    made = run(a_request(tiny), backend)
    np.testing.assert_array_equal(made.pixels, run(a_request(tiny), CountingBackend()).pixels)
    assert (name, True) in backend.streamed


def test_a_network_is_streamed_at_once_where_nothing_else_was_to_be_loaded(
    tmp_path: Path, decoder: Network
) -> None:
    backend = Card("vae_decoder")
    stages = make_stages(backend, tmp_path, (F32,))
    stages.pool.memory = in_turns(stages.pool.memory)
    decode(stages, decoder)
    assert backend.streamed == [("vae_decoder", False), ("vae_decoder", True)]
    assert stages.pool.streams_unplanned


def test_work_that_has_another_way_is_not_streamed(tmp_path: Path, decoder: Network) -> None:
    backend = Card("vae_decoder")
    stages = make_stages(backend, tmp_path, (F32,))

    def work(session: Session) -> Array:
        return stages.call(session, {"latent": LATENT})["image"]

    with pytest.raises(EngineError) as caught:
        stages.run(Phase.DECODE, decoder, work, result_checks.picture, streams=False)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert backend.streamed == [("vae_decoder", False)] * 2


# --- failures and stopping ---

Failing = Callable[[BackendError], Script]


def _fails_to_load(error: BackendError) -> Script:
    return Script(load_error=error)


def _fails_to_run(error: BackendError) -> Script:
    return Script(run_error=error)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "failing",
    [_fails_to_load, _fails_to_run],
)
@pytest.mark.parametrize(
    ("out_of_memory", "code"),
    [(False, ErrorCode.BACKEND_FAILED), (True, ErrorCode.OUT_OF_MEMORY)],
)
def test_a_backend_that_fails(
    tiny: Path, name: str, failing: Failing, out_of_memory: bool, code: ErrorCode
) -> None:
    error = BackendError("kernel 7 is on fire", out_of_memory=out_of_memory)
    backend = CountingBackend({name: failing(error)})
    with pytest.raises(EngineError) as caught:
        run(a_request(tiny), backend, together=True)
    assert caught.value.code is code
    assert caught.value.detail == "kernel 7 is on fire"
    assert caught.value.hint or caught.value.remedies
    assert backend.open_now == []


@pytest.mark.parametrize("name", NAMES)
def test_a_wish_to_stop_reaches_into_the_run(tiny: Path, name: str) -> None:
    backend, token = CountingBackend({name: Script(run_seconds=120)}), CancelToken()
    timer = Timer(0.1, token.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        run(a_request(tiny), backend, cancel=token)
    timer.join()
    assert backend.open_now == []


def test_a_wish_from_before_loads_nothing(tiny: Path) -> None:
    backend, token = CountingBackend(), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        run(a_request(tiny), backend, cancel=token)
    assert backend.loads == []


def test_a_wish_between_runs_starts_no_further_one(tiny: Path) -> None:
    class Stopping(Log):
        def progress(self, done: int, total: int) -> None:
            super().progress(done, total)
            if self.steps[-1:] == [(2, 10)]:
                token.cancel()

    token, log = CancelToken(), Stopping()
    with pytest.raises(Cancelled):
        run(a_request(tiny, steps=10), CountingBackend(), cancel=token, log=log)
    assert log.steps == [(0, 10), (1, 10), (2, 10)]


# --- what is told ---


def test_phases_and_steps_are_reported_in_order(tiny: Path) -> None:
    log = run(a_request(tiny, steps=4), CountingBackend()).log
    assert log.phases == [
        *(Phase.COMPILE, Phase.ENCODE),
        *(Phase.COMPILE, Phase.DENOISE),
        *(Phase.COMPILE, Phase.DECODE),
    ]
    assert log.steps == [(i, 4) for i in range(5)]


def test_pixels_are_rounded_or_cut_as_the_convention_says() -> None:
    values = np.array([-9, -1, 0, 0.999, 1, 9, 3.2 / 127.5 - 1, 3.7 / 127.5 - 1], np.float32)
    image = np.zeros((1, 3, 2, 8), np.float32)
    image[0, 1, 1] = values
    for rounds, expected in (
        (True, [0, 0, 128, 255, 255, 255, 3, 4]),
        (False, [0, 0, 127, 254, 255, 255, 3, 3]),
    ):
        pixels = as_pixels(image, rounds=rounds)
        assert pixels.dtype == np.uint8
        assert pixels.shape == (1, 2, 8, 3)
        assert pixels[0, 1, :, 1].tolist() == expected


def test_stages_close_what_they_keep_even_when_one_refuses(
    tmp_path: Path, decoder: Network
) -> None:
    backend = CountingBackend()
    with closing(make_stages(backend, tmp_path, (F32,), together=True)) as stages:
        decode(stages, decoder, keep=True)
        assert backend.open_now == ["vae_decoder"]
    assert backend.open_now == []


# --- loading ahead ---


def test_a_network_that_loads_ahead_is_loaded_once(tmp_path: Path, decoder: Network) -> None:
    backend = CountingBackend()
    with closing(make_stages(backend, tmp_path, (F32,))) as stages:
        stages.prepare(decoder)
        stages.prepare(decoder)
        decode(stages, decoder)
        assert backend.loads == [("vae_decoder", F32)]
    assert backend.open_now == []


def test_a_network_loaded_ahead_in_vain_is_closed(tmp_path: Path, decoder: Network) -> None:
    backend = CountingBackend()
    with closing(make_stages(backend, tmp_path, (F32,))) as stages:
        stages.prepare(decoder)
        deadline = monotonic() + 60
        while not backend.open_now:  # on its thread
            assert monotonic() < deadline
            sleep(0.001)
    assert backend.loads == [("vae_decoder", F32)]
    assert backend.open_now == []


def test_a_failure_ahead_is_told_where_the_network_is_wanted(
    tmp_path: Path, decoder: Network
) -> None:
    backend = CountingBackend({"vae_decoder": Script(load_error=BackendError("no"))})
    with closing(make_stages(backend, tmp_path, (F32,))) as stages:
        stages.prepare(decoder)
        with pytest.raises(EngineError) as caught:
            decode(stages, decoder)
    assert caught.value.code is ErrorCode.BACKEND_FAILED


def test_a_wish_to_stop_reaches_what_is_loaded_ahead(tmp_path: Path, decoder: Network) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with closing(make_stages(CountingBackend(), tmp_path, (F32,), cancel=cancel)) as stages:
        stages.prepare(decoder)
        with pytest.raises(Cancelled):
            decode(stages, decoder)


def test_the_denoiser_loads_beside_the_text_encoder(tiny: Path) -> None:
    backend = CountingBackend()
    run(a_request(tiny), backend)
    assert {name for name, _ in backend.loads[:2]} == {"text_encoder", "denoiser"}
    assert [name for name, _ in backend.loads[2:]] == ["vae_decoder"]
    assert backend.open_now == []


def test_an_unwanted_compile_ahead_is_ended(
    tmp_path: Path, decoder: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compile would never end by itself."""
    journal = tmp_path / "journal"
    how = Compiling(interruptible=False, gate=str(tmp_path / "none"), journal=str(journal))
    monkeypatch.setenv(*how.as_environment().popitem())
    with closing(make_stages(CountingBackend(), tmp_path, (F32,))) as stages:
        stages.prepare(decoder)
        while not journal.exists():
            sleep(0.01)


@pytest.mark.parametrize(
    ("shapes", "loads"),
    [(None, 1), (ShapeSupport.DYNAMIC, 1), (ShapeSupport.RANGES, 1), (ShapeSupport.STATIC, 2)],
)
def test_a_network_loaded_ahead_serves_for_another_size(
    tmp_path: Path,
    tiny: Path,
    monkeypatch: pytest.MonkeyPatch,
    shapes: ShapeSupport | None,
    loads: int,
) -> None:
    """Prepared, kept, and given to the next job: it is known by what it serves for."""
    if shapes is not None:
        monkeypatch.setenv(*Compiling(shapes=shapes).as_environment().popitem())
    checkpoint, residency, backend = identify(tiny), Residency(), CountingBackend()
    narrow, wide = 64, 128
    made = {
        width: checkpoint.architecture.autoencoder.decoder(narrow, width)
        for width in (narrow, wide)
    }

    def decode_at(stages: Stages, network: Network, width: int) -> None:
        latent = np.zeros((1, 4, narrow // DOWNSCALE, width // DOWNSCALE), np.float32)
        decode(stages, network, latent=latent)
        assert len(backend.open_now) == 1

    with closing(make_stages(backend, tmp_path, (F32,), residency=residency)) as stages:
        stages.prepare(made[wide])
        for width in (wide, narrow):
            decode_at(stages, made[width], width)
        stages.pool.leave_resident()
    assert len(backend.loads) == loads
    with closing(make_stages(backend, tmp_path, (F32,), residency=residency)) as stages:
        decode_at(stages, checkpoint.architecture.autoencoder.decoder(narrow, narrow), narrow)
        assert len(backend.loads) == loads
        stages.pool.leave_resident()
    residency.release()
    assert backend.open_now == []
