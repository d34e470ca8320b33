"""Each phase of a job tells how long it and the rest should take, learnt from the jobs before."""

from contextlib import closing
from pathlib import Path

import pytest

from backends.base import Device, DType, MemoryInfo, Precision
from backends.null import Compiling, NullBackend, Script
from engine.api.request import GenerateRequest
from engine.api.values import Phase, SamplerName
from engine.cancel import CancelToken
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.estimates import Estimates
from engine.compile.kept_results import KeptResults
from engine.compile.network import Preparation
from engine.families import identify
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.memory.residency import Residency
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.forecast import Forecast, PhaseEstimate
from engine.pipeline.generate import Generation
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.picture_plan import plan_pictures
from engine.pipeline.place import place, precisions
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve
from engine.pipeline.stages import RunContext, Stages
from engine.weights.working_copies import WorkingCopies
from tests.pipeline.jobs import Log, a_request
from tests.tiny_checkpoint import write_checkpoint

BF16, F32 = Precision.BF16, Precision.F32
NAN = float("nan")


class Ticking:
    """A clock on which each phase takes as long as a table says, whatever it really took."""

    def __init__(self, seconds: dict[Phase, float]) -> None:
        self.seconds = seconds
        self.now = 0.0
        self.phase: Phase | None = None

    def __call__(self) -> float:
        """Asked at a phase's beginning, then at its end."""
        if self.phase is not None:
            self.now += self.seconds[self.phase]
            self.phase = None
        return self.now


class Watching(Log):
    """Remembers what each phase promised."""

    def __init__(self, clock: Ticking) -> None:
        super().__init__()
        self.told: list[tuple[Phase, PhaseEstimate]] = []
        self._clock = clock
        self._estimate: PhaseEstimate | None = None

    def expect(self, estimate: PhaseEstimate) -> None:
        self._estimate = estimate

    def phase(self, phase: Phase) -> None:
        super().phase(phase)
        assert self._estimate is not None
        self.told.append((phase, self._estimate))
        self._clock.phase, self._estimate = phase, None

    def of(self, phase: Phase) -> list[PhaseEstimate]:
        return [estimate for told, estimate in self.told if told is phase]


TAKES = {
    Phase.COMPILE: 2.0,
    Phase.ENCODE: 1.0,
    Phase.DENOISE: 30.0,
    Phase.DECODE: 5.0,
    Phase.SAVE: 0.5,
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


def make(
    request: GenerateRequest,
    estimates: Estimates,
    *,
    backend: NullBackend | None = None,
    together: bool = False,
    residency: Residency | None = None,
    tried: tuple[Precision, ...] | None = None,
    takes: dict[Phase, float] = TAKES,
    artifacts: ArtifactStore | None = None,
    results: KeptResults | None = None,
) -> Watching:
    """Make the pictures of a request and save them nowhere; what was promised."""
    backend = backend or NullBackend()
    device = backend.probe()[0]
    checkpoint = identify(Path(request.checkpoint or ""))
    clock = Ticking(takes)
    log = Watching(clock)
    compiler = Compiler(
        backend, device, WorkingCopies(checkpoint.path.parent / "copies"), artifacts
    )
    plan = MemoryPlan(WeightPlacement.MEMORY, together, 0, 0, resident=residency is not None)
    context = RunContext(log, CancelToken())
    stages = Stages(
        NetworkPool(compiler, plan, context.cancel, residency, results=results),
        tried or precisions(request.precision, device),
        context,
        Forecast(estimates, compiler, clock),
    )
    checkpoints = JobCheckpoints(checkpoint)
    resolved = resolve(request, checkpoints)
    read = read_job(ResolvedJob(resolved, checkpoints, request.count))
    placement = place(resolved.precision, resolved.vae_tile, device)
    generation = Generation(plan_pictures(read, placement), stages, log)
    with closing(stages):
        for _ in generation.pictures():
            with stages.timed(Phase.SAVE):
                pass
            stages.pool.keep_results()
        stages.pool.leave_resident()
    return log


def test_the_first_job_promises_nothing_and_the_second_what_the_first_took(tiny: Path) -> None:
    estimates = Estimates(None)
    first = make(a_request(tiny), estimates)
    promised = {(estimate.phase_s, estimate.after_s) for _, estimate in first.told[:-1]}
    assert promised == {(None, None)}
    assert first.told[-1] == (Phase.SAVE, PhaseEstimate(None, 0))
    second = make(a_request(tiny), estimates)
    expected = [
        (Phase.COMPILE, 2, 1 + 2 + 30 + 2 + 5 + 0.5),
        (Phase.ENCODE, 1, 2 + 30 + 2 + 5 + 0.5),
        (Phase.COMPILE, 2, 30 + 2 + 5 + 0.5),
        (Phase.DENOISE, 30, 2 + 5 + 0.5),
        (Phase.COMPILE, 2, 5 + 0.5),
        (Phase.DECODE, 5, 0.5),
        (Phase.SAVE, 0.5, 0),
    ]
    assert [(p, o.phase_s, o.after_s) for p, o in second.told] == [
        (phase, pytest.approx(seconds), pytest.approx(after)) for phase, seconds, after in expected
    ]


@pytest.mark.parametrize(
    ("changes", "denoise_s", "decode_s"),
    [
        ({"steps": 9}, 90, 5),
        # One context instead of two.
        ({"guidance": 1.0}, 15, 5),
        # Five evaluations instead of three: its last step takes one.
        ({"sampler": SamplerName.HEUN}, 50, 5),
        ({"width": 128, "height": 128}, 120, 20),
    ],
)
def test_more_work_takes_longer(
    tiny: Path, changes: dict[str, object], denoise_s: float, decode_s: float
) -> None:
    estimates = Estimates(None)
    make(a_request(tiny, steps=3, sampler=SamplerName.EULER), estimates)
    log = make(a_request(tiny, **{"steps": 3, "sampler": SamplerName.EULER} | changes), estimates)
    assert log.of(Phase.DENOISE)[0].phase_s == pytest.approx(denoise_s)
    assert log.of(Phase.DECODE)[0].phase_s == pytest.approx(decode_s)
    assert log.of(Phase.DECODE)[0].after_s == pytest.approx(decode_s / 10)


@pytest.mark.parametrize("together", [True, False])
def test_every_picture_of_a_job_counts(tiny: Path, *, together: bool) -> None:
    estimates = Estimates(None)
    make(a_request(tiny), estimates)
    log = make(a_request(tiny, count=3), estimates, together=together)
    each = 30 + 5 + 0.5 + (0 if together else 2 + 2)
    first_after = 1 + 2 + 30 + 2 + 5 + 0.5 + 2 * each
    assert log.told[0][1].after_s == pytest.approx(first_after)
    rest = [estimate.after_s for estimate in log.of(Phase.SAVE)]
    assert rest == [pytest.approx(2 * each), pytest.approx(each), pytest.approx(0)]
    # Within a job, too: nothing was known of the first picture's phases, all of the second's.
    log = make(a_request(tiny, count=2), Estimates(None), together=together)
    assert [estimate.phase_s for estimate in log.of(Phase.DENOISE)] == [None, pytest.approx(30)]


def test_a_network_that_stays_loaded_is_not_prepared_again(tiny: Path) -> None:
    estimates, residency = Estimates(None), Residency()
    make(a_request(tiny), estimates, residency=residency)
    again = make(a_request(tiny), estimates, residency=residency)
    assert again.told[0][0] is Phase.ENCODE
    assert again.told[0][1].after_s == pytest.approx(30 + 5 + 0.5)
    residency.release()


def test_a_phase_that_is_done_again_more_safely_promises_again(tiny: Path) -> None:
    estimates = Estimates(None)
    make(a_request(tiny), estimates, tried=(BF16, F32))
    broken = NullBackend({"vae_decoder": Script(offset=NAN, precisions=frozenset({BF16}))})
    log = make(a_request(tiny), estimates, backend=broken, tried=(BF16, F32))
    decodes = log.of(Phase.DECODE)
    assert [estimate.after_s for estimate in decodes] == [pytest.approx(0.5)] * 2
    assert log.of(Phase.SAVE)[0].after_s == pytest.approx(0)


def test_a_cancelled_or_failed_phase_teaches_nothing(tiny: Path) -> None:
    estimates = Estimates(None)
    broken = NullBackend({"denoiser": Script(run_error=OSError("no device"))})  # pyright: ignore[reportArgumentType]
    with pytest.raises(OSError, match="no device"):
        make(a_request(tiny), estimates, backend=broken)
    log = make(a_request(tiny), estimates)
    assert log.of(Phase.ENCODE)[0].phase_s == pytest.approx(1)
    assert log.of(Phase.DENOISE)[0].phase_s is None


def test_other_devices_learn_for_themselves(tiny: Path) -> None:
    class Other(NullBackend):
        name = "null"

        def probe(self) -> list[Device]:
            return [Device("null", "other", "another one", tuple(Precision))]

        def memory(self, device: Device) -> MemoryInfo:
            return MemoryInfo(8 << 30, 8 << 30, integrated=True)

    estimates = Estimates(None)
    make(a_request(tiny), estimates)
    log = make(a_request(tiny), estimates, backend=Other())
    assert log.of(Phase.DENOISE)[0].phase_s is None


def test_durations_are_kept_by_a_job_that_does_not_end(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    broken = NullBackend({"vae_decoder": Script(run_error=OSError("gone"))})  # pyright: ignore[reportArgumentType]
    with pytest.raises(OSError, match="gone"):
        make(a_request(tiny), Estimates(path), backend=broken)
    log = make(a_request(tiny), Estimates(path))
    assert log.of(Phase.DENOISE)[0].phase_s == pytest.approx(30)


def test_converting_is_told_from_loading(tmp_path: Path) -> None:
    """Weights of another type are converted each time, unless there is a working copy of them."""
    backend = NullBackend()
    copies = WorkingCopies(tmp_path / "copies")
    compiler = Compiler(backend, backend.probe()[0], copies)
    half = write_checkpoint(tmp_path / "half", dtype=DType.F16)
    decoder = identify(half).architecture.autoencoder.decoder(64, 64)
    assert compiler.prepared(decoder, F32).preparation() is Preparation.CONVERT
    token = CancelToken()
    placement = WeightPlacement.WORKING_COPY
    compiler.load(decoder, F32, placement, lambda _done, _total: None, token).close()
    assert compiler.prepared(decoder, F32).preparation() is Preparation.LOAD
    full = identify(write_checkpoint(tmp_path / "full"))
    unconverted = full.architecture.autoencoder.decoder(64, 64)
    assert compiler.prepared(unconverted, F32).preparation() is Preparation.LOAD


def test_a_compile_is_estimated_as_once_and_learnt_apart(tiny: Path, tmp_path: Path) -> None:
    estimates = Estimates(None)
    backend = NullBackend(compiling=Compiling())
    minutes = TAKES | {Phase.COMPILE: 90.0}
    kept = ArtifactStore(tmp_path / "artifacts")
    first = make(a_request(tiny), estimates, backend=backend, takes=minutes, artifacts=kept)
    assert [estimate.once for estimate in first.of(Phase.COMPILE)] == [True] * 3
    assert not any(o.once for phase, o in first.told if phase is not Phase.COMPILE)
    second = make(a_request(tiny), estimates, backend=backend, artifacts=kept)
    assert [(o.phase_s, o.once) for o in second.of(Phase.COMPILE)] == [(None, False)] * 3
    third = make(a_request(tiny), estimates, backend=backend, artifacts=kept)
    assert [o.phase_s for o in third.of(Phase.COMPILE)] == [pytest.approx(2)] * 3
    # Another checkpoint's cache is empty: this machine knows how long that takes.
    other = ArtifactStore(tmp_path / "others")
    fourth = make(a_request(tiny), estimates, backend=backend, takes=minutes, artifacts=other)
    assert [o.phase_s for o in fourth.of(Phase.COMPILE)] == [pytest.approx(90)] * 3
    # Of two pictures only the first waits for the compiler.
    both = make(
        a_request(tiny, count=2),
        estimates,
        backend=backend,
        artifacts=ArtifactStore(tmp_path / "more"),
    )
    expected = 1 + 2 * 90 + 35.5 + (2 + 30 + 2 + 5 + 0.5)
    assert both.told[0][1].after_s == pytest.approx(expected)
