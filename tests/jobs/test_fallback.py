"""A job goes on where a device fails, and what failed is remembered."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import (
    BackendError,
    Cancellation,
    Device,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
)
from backends.null import NullSession, Script
from engine.api.control import ControlLayer
from engine.api.remedies import CheckDevices, MakeSmaller
from engine.api.request import GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, ErrorInfo, Phase, PrecisionName
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices
from engine.errors import Cancelled, EngineError
from engine.jobs import runner as job_runner
from engine.jobs.attempts import JobResult
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.memory.residency import Residency, Resident
from engine.output import destination
from engine.weights.working_copies import WorkingCopies
from tests.devices.test_crash_attribution import Holder
from tests.metadata.records import read_record
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import SIDE, write_checkpoint


@pytest.fixture(scope="session")
def request_(tmp_path_factory: pytest.TempPathFactory) -> GenerateRequest:
    """For a picture of a small checkpoint."""
    request = a_request(write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny"))
    return msgspec.structs.replace(request, backend="auto")


class Listener(SilentReporter):
    """Collects what a job reports."""

    def __init__(self) -> None:
        self.saved: list[SavedImage] = []
        self.warnings: list[ErrorInfo] = []

    def image_saved(self, image: SavedImage) -> None:
        self.saved.append(image)

    def warning(self, warning: ErrorInfo) -> None:
        self.warnings.append(warning)


def pixels(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image)


class Hardware:
    """Devices of the null backend, the preferred first, and what the runner was told of them."""

    def __init__(
        self, folder: Path, request: GenerateRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.failures: list[tuple[str, str]] = []
        self._candidates: list[Candidate] = []

        def candidates(*_: object) -> list[Candidate]:
            return [*self._candidates]

        def note(_devices: Devices, device: Device, reason: str) -> None:
            self.failures.append((device.backend, reason))

        monkeypatch.setattr(Devices, "candidates", candidates)
        monkeypatch.setattr(Devices, "note_failure", note)

        self.folder, self.request = folder, request

    def add(
        self, name: str, backend: CountingBackend | None = None, **scripts: Script
    ) -> CountingBackend:
        """A device of a backend of that name, whose networks misbehave as scripted."""
        backend = backend or CountingBackend(scripts)
        device = msgspec.structs.replace(backend.probe()[0], backend=name, name=f"device of {name}")
        self._candidates.append(Candidate(backend, device, choice=f"{name} was chosen"))
        return backend

    def remove_first(self) -> None:
        """Go on without the preferred device."""
        del self._candidates[0]

    def narrow(self, precision: Precision) -> None:
        """The device added last offers only this."""
        last = self._candidates[-1]
        device = msgspec.structs.replace(last.device, precisions=(precision,))
        self._candidates[-1] = msgspec.structs.replace(last, device=device)

    def run(
        self,
        listener: Listener | None = None,
        token: CancelToken | None = None,
        residency: Residency | None = None,
        **changes: object,
    ) -> JobResult:
        """Run the job, with these changes to its request."""
        request = msgspec.structs.replace(self.request, **changes)
        saver = PictureSaver(destination(f"{self.folder / 'out'}/", request.count))
        runner = JobRunner(JobServices.in_cache(self.folder / "cache", residency=residency))
        return runner.run(request, saver, listener or Listener(), token or CancelToken())


@pytest.fixture
def hardware(
    tmp_path: Path, request_: GenerateRequest, monkeypatch: pytest.MonkeyPatch
) -> Hardware:
    return Hardware(tmp_path, request_, monkeypatch)


GONE = BackendError("the device was removed")
FULL = BackendError("cannot allocate 3 GB", out_of_memory=True)


def test_the_record_says_which_device_and_why(hardware: Hardware) -> None:
    hardware.add("one")
    result = hardware.run()
    record = read_record(result.images[0].path)
    assert record is not None
    assert (record.request.backend, record.device) == ("one", "device of one")
    assert record.choice == result.choice == "one was chosen"
    assert hardware.failures == []


def test_the_next_device_takes_over_and_the_failure_is_told_and_remembered(
    hardware: Hardware,
) -> None:
    hardware.add("one", denoiser=Script(load_error=GONE))
    hardware.add("two")
    listener = Listener()
    result = hardware.run(listener)
    assert result.device.backend == "two"
    assert [warning.code for warning in listener.warnings] == [ErrorCode.BACKEND_FAILED]
    (warning,) = listener.warnings
    assert warning.message == "one failed on device of one; two goes on with what is left."
    assert warning.remedies == (CheckDevices(),)
    record = read_record(result.images[0].path)
    assert record is not None
    assert record.warnings == result.warnings == tuple(listener.warnings)
    assert (record.request.backend, record.choice) == ("two", "one failed in this job")
    assert hardware.failures == [("one", "the device was removed")]


class Unplugged(CountingBackend):
    """A device that was removed since it was listed: nothing of it can be asked any more."""

    def __init__(self, *, operators: bool) -> None:
        super().__init__()
        self._operators = operators

    def operators(self, device: Device) -> OperatorSet:
        if self._operators:
            raise GONE
        return super().operators(device)

    def memory(self, device: Device) -> MemoryInfo:
        raise GONE


@pytest.mark.parametrize("operators", [False, True])
def test_the_next_device_takes_over_where_the_first_was_removed_before_the_plan(
    hardware: Hardware, operators: bool
) -> None:
    hardware.add("one", Unplugged(operators=operators))
    hardware.add("two")
    assert hardware.run().device.backend == "two"
    assert hardware.failures == [("one", "the device was removed")]


DAMAGED = EngineError(ErrorCode.WORKING_COPY_DAMAGED, sentence("A copy was damaged."))


@pytest.mark.parametrize("times", [1, 3])
def test_a_picture_made_with_a_damaged_copy_is_made_again_at_most_three_times(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    left = [DAMAGED] * times

    def require_sound(_copies: WorkingCopies, _cancel: Cancellation) -> None:
        if left:
            raise left.pop()

    monkeypatch.setattr(WorkingCopies, "require_sound", require_sound)
    backend, listener = hardware.add("one"), Listener()
    if times == 1:
        result = hardware.run(listener)
        assert result.warnings == result.images[0].record.warnings == (DAMAGED.info,)
    else:
        with pytest.raises(EngineError) as caught:
            hardware.run(listener)
        assert caught.value.code is ErrorCode.WORKING_COPY_DAMAGED
        assert listener.saved == []
    assert listener.warnings == [DAMAGED.info] * times
    drawn = [graph for graph in backend.graphs if graph.name == "denoiser"]
    assert len(drawn) == max(2, times)  # nothing of before is decoded


class GoneAfter(CountingBackend):
    """A device that vanishes in the middle of its second picture."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self.left = runs

    def before_run(self, graph: Graph) -> None:
        if graph.name == "denoiser":
            self.left -= 1
            if self.left < 0:
                raise GONE


def test_a_device_that_vanishes_loses_no_picture(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.pipeline.read_job._PICTURES_AT_ONCE", 1)
    # The steps of the first picture, and one of the second.
    hardware.add("one", GoneAfter(runs=4))
    hardware.add("two")
    listener = Listener()
    result = hardware.run(listener, count=3, steps=3)
    records = [image.record for image in result.images]
    assert [record.request.backend for record in records] == ["one", "two", "two"]
    assert [saved.path for saved in listener.saved] == [image.path for image in result.images]
    assert hardware.failures == [("one", "the device was removed")]
    # The same pictures as where nothing vanishes.
    hardware.remove_first()
    undisturbed = hardware.run(count=3, steps=3)
    for image, expected in zip(result.images, undisturbed.images, strict=True):
        assert image.seed == expected.seed
        assert np.array_equal(pixels(image.path), pixels(expected.path))


def names(backend: CountingBackend) -> list[str]:
    return [name for name, _ in backend.loads]


@pytest.mark.parametrize("error", [GONE, FULL], ids=["gone", "full"])
def test_a_finished_latent_is_only_decoded_by_the_next_device(
    hardware: Hardware, error: BackendError
) -> None:
    first = hardware.add("one", CountingBackend({"vae_decoder": Script(run_error=error)}))
    second = hardware.add("two")
    result = hardware.run(count=2, steps=3)
    # The second picture was not begun, so it is drawn there, too.
    assert names(first).count("denoiser") == names(second).count("denoiser") == 1
    assert names(second)[0] == "vae_decoder"
    hardware.remove_first()
    undisturbed = hardware.run(count=2, steps=3)
    for image, expected in zip(result.images, undisturbed.images, strict=True):
        assert np.array_equal(pixels(image.path), pixels(expected.path))


def test_the_record_of_a_finished_latent_has_the_layers_that_led_it(
    hardware: Hardware, tmp_path: Path
) -> None:
    network, map_ = tmp_path / "net.safetensors", tmp_path / "map.png"
    write_control_net(network, Path(hardware.request.checkpoint or ""))
    write_map(map_)
    hardware.add("one", CountingBackend({"vae_decoder": Script(load_error=GONE)}))
    second = hardware.add("two")
    layer = ControlLayer(image=str(map_), network=str(network))
    (made,) = hardware.run(controls=(layer,)).images
    assert names(second) == ["vae_decoder"]
    hardware.remove_first()
    (undisturbed,) = hardware.run(controls=(layer,)).images
    assert made.record.controls == undisturbed.record.controls != msgspec.UNSET


def test_a_finished_latent_needs_the_decoder_alone(hardware: Hardware) -> None:
    hardware.add("one", CountingBackend({"vae_decoder": Script(load_error=GONE)}))
    second = hardware.add("two")
    text = "a red horse <lora:mine:1>"
    result = hardware.run(prompt=text, convention=ConventionName.A1111)
    assert result.device.backend == "two"
    assert names(second) == ["vae_decoder"]
    # What the text asked for in vain is known there, too.
    assert [warning.code for warning in result.warnings][1:] == [ErrorCode.LORA_NOT_FOUND]


def test_a_job_that_fails_on_all_devices_is_held_against_none(hardware: Hardware) -> None:
    hardware.add("one", denoiser=Script(load_error=GONE))
    hardware.add("two", denoiser=Script(load_error=GONE))
    with pytest.raises(EngineError) as caught:
        hardware.run()
    assert caught.value.code is ErrorCode.BACKEND_FAILED
    assert hardware.failures == []


def test_a_broken_checkpoint_does_not_go_from_device_to_device(hardware: Hardware) -> None:
    hardware.add("one", denoiser=Script(offset=np.nan))
    second = hardware.add("two")
    with pytest.raises(EngineError) as caught:
        hardware.run()
    assert caught.value.code is ErrorCode.NUMERIC_FAILURE
    assert (second.loads, hardware.failures) == ([], [])


def test_cancelled_is_no_failure(hardware: Hardware) -> None:
    token = CancelToken()
    hardware.add("one", denoiser=Script(run_seconds=600))
    second = hardware.add("two")

    class Stopping(Listener):
        def phase(self, phase: Phase) -> None:
            if phase is Phase.DENOISE:
                token.cancel()

    with pytest.raises(Cancelled):
        hardware.run(Stopping(), token)
    assert (second.loads, hardware.failures) == ([], [])


def test_a_precision_is_looked_for_among_the_devices(hardware: Hardware) -> None:
    first = hardware.add("one")
    hardware.narrow(Precision.F32)
    hardware.add("two")
    assert hardware.run(precision=PrecisionName.F16).device.backend == "two"
    assert first.loads == []


IN_EACH_PHASE = {
    "preparing the networks": {"denoiser": Script(load_error=FULL)},
    "reading the prompt": {"text_encoder": Script(run_error=FULL)},
    "developing it": {"denoiser": Script(run_error=FULL)},
    "finishing it": {"vae_decoder": Script(run_error=FULL)},
}


@pytest.mark.parametrize("doing", IN_EACH_PHASE)
def test_a_stage_out_of_memory_runs_once_more_and_then_on_the_next_device(
    hardware: Hardware, doing: str
) -> None:
    scripts = IN_EACH_PHASE[doing]
    (network,) = scripts
    first = hardware.add("one", CountingBackend(scripts))
    hardware.add("two")
    listener = Listener()
    assert hardware.run(listener).device.backend == "two"
    assert first.open_now == []
    (warning,) = listener.warnings
    assert warning.code is ErrorCode.OUT_OF_MEMORY
    assert warning.message == (
        f"A picture of {SIDE} × {SIDE} ran out of memory on device of one, while {doing}. "  # noqa: RUF001
        "two goes on with what is left."
    )
    # Too little memory for this size is no fault of the device.
    assert hardware.failures == []
    if scripts[network].run_error:
        assert [name for name, _ in first.loads].count(network) == 2


@pytest.mark.parametrize("doing", IN_EACH_PHASE)
def test_where_nothing_has_the_memory_size_and_phase_are_named(
    hardware: Hardware, doing: str
) -> None:
    hardware.add("one", CountingBackend(IN_EACH_PHASE[doing]))
    with pytest.raises(EngineError) as caught:
        hardware.run()
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert caught.value.message == (
        f"A picture of {SIDE} × {SIDE} ran out of memory on device of one, while {doing}."  # noqa: RUF001
    )
    assert caught.value.remedies == (MakeSmaller(width=SIDE, height=SIDE),)
    assert "3 GB" in caught.value.detail


def test_the_size_that_lacks_memory_is_that_of_the_last_pass(hardware: Hardware) -> None:
    hardware.add("one", CountingBackend(IN_EACH_PHASE["finishing it"]))
    with pytest.raises(EngineError, match=f"A picture of {2 * SIDE} × {2 * SIDE} ran") as caught:  # noqa: RUF001
        hardware.run(second_passes=(SecondPass(scale=2),))
    assert caught.value.remedies == (MakeSmaller(width=2 * SIDE, height=2 * SIDE),)


class FullOnce(CountingBackend):
    """Has no room until what is resident was released."""

    def __init__(self, residency: Residency) -> None:
        super().__init__()
        self._residency = residency

    def before_load(self, graph: Graph) -> None:
        if graph.name == "denoiser" and self._residency.weight_bytes(on_host=True):
            raise FULL


def test_resident_networks_are_released_for_the_second_try(hardware: Hardware) -> None:
    residency = Residency()
    hardware.add("one", FullOnce(residency))
    nothing = Graph("another checkpoint's", b"", {}, (), (), Precision.F32)
    resident = Resident("other", NullSession(nothing, Script()), weight_bytes=1 << 20)
    residency.give("another", resident)
    listener = Listener()
    result = hardware.run(listener, residency=residency)
    assert result.device.backend == "one"
    assert (listener.warnings, hardware.failures) == ([], [])


def test_arrays_that_do_not_fit_are_memory_that_ran_out(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    hardware.add("one")

    def full(*_: object, **_rest: object) -> None:
        raise MemoryError("Unable to allocate 96 GiB")

    monkeypatch.setattr("engine.pipeline.generate.as_pixels", full)
    with pytest.raises(EngineError) as caught:
        hardware.run()
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert f"{SIDE} × {SIDE}" in caught.value.message  # noqa: RUF001


def test_a_checkpoint_that_does_not_fit_is_read_again_with_everything_released(
    hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    hardware.add("one")
    load, tries = job_runner.load_checkpoints, [0]

    def full(*arguments: object) -> object:
        tries[0] += 1
        if tries[0] == 1:
            raise MemoryError
        return load(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(job_runner, "load_checkpoints", full)
    hardware.run()
    assert tries == [2]
    monkeypatch.setattr(job_runner, "load_checkpoints", fail_for_memory)
    with pytest.raises(EngineError) as caught:
        hardware.run()
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def fail_for_memory(*_: object) -> None:
    raise MemoryError


class WithMemory(CountingBackend):
    """A device with memory of its own, as drivers have."""

    def memory(self, device: Device) -> MemoryInfo:
        return msgspec.structs.replace(super().memory(device), integrated=False)


class Watching(Listener):
    """Looks which files say that a device is at work."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.seen: list[int] = []

    def phase(self, phase: Phase) -> None:
        if phase is Phase.DENOISE:
            self.seen.append(len(list(self.folder.glob("*.json"))))


@pytest.mark.parametrize(("backend", "files"), [(WithMemory, 1), (CountingBackend, 0)])
def test_a_device_with_a_driver_is_known_to_be_at_work(
    hardware: Hardware, backend: type[CountingBackend], files: int
) -> None:
    hardware.add("one", backend())
    listener = Watching(hardware.folder / "cache" / "at-work")
    hardware.run(listener)
    assert listener.seen == [files]
    assert list(listener.folder.glob("*.json")) == []


def test_a_device_that_crashed_the_engine_is_put_behind_at_the_next_job(hardware: Hardware) -> None:
    Holder(hardware.folder / "cache" / "at-work").crash()
    hardware.add("one")
    hardware.run()
    assert hardware.failures == [("nvidia_cuda", "the engine ended while it was at work")]
    hardware.run()
    assert len(hardware.failures) == 1
