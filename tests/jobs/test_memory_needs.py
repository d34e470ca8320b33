"""The needs of jobs, beside the networks that they run: each is counted in its own graph."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from backends.base import Device, DType, OperatorSet, Precision, WorkingMemory
from backends.cpu import CpuBackend
from backends.forms import UpsamplingForm
from engine.api.control import ControlLayer
from engine.api.preprocessors import ReferenceOptions
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, PrecisionName, SamplerName, ScheduleName
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.counted_results import CountedResults
from engine.compile.network import Network
from engine.control.reading import read_control_network
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.memory_needs import memory_needs
from engine.lora.folder import LoraLookup
from engine.memory.plan import MemoryNeeds, WeightPlacement
from engine.pipeline.picture_plan import PicturePlan, plan_pictures
from engine.pipeline.place import Placement
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import NamedFiles, resolve_job
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.control.test_flux_nets import SIZES, xlabs
from tests.families.flux.files import drawn
from tests.families.flux.test_pictures import write_checkpoint as write_flux
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import write_checkpoint

_F32 = Precision.F32
PLACEMENT = Placement("cpu", PrecisionName.F32, None)
Needs = Callable[..., tuple[MemoryNeeds, PicturePlan]]


class Keeping(CpuBackend):
    """Keeps what runs take for later ones."""

    def working_memory(self, device: Device) -> WorkingMemory:
        return WorkingMemory(least_run_bytes=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("needs")
    write_checkpoint(folder / "tiny")
    for seed in range(2):
        write_control_net(folder / f"net{seed}.safetensors", folder / "tiny", seed)
    write_map(folder / "map.png")
    return folder


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    backend = Keeping()
    return Compiler(backend, backend.probe()[0], WorkingCopies(tmp_path))


@pytest.fixture
def needed(folder: Path, compiler: Compiler) -> Needs:
    def of(*controls: ControlLayer, **changes: object) -> tuple[MemoryNeeds, PicturePlan]:
        request = a_request(folder / "tiny", controls=controls, **changes)
        read = read_job(resolve_job(request, load_checkpoints(request)))
        return memory_needs(read, compiler), plan_pictures(read, PLACEMENT)

    return of


def layer(folder: Path, seed: int = 0) -> ControlLayer:
    return ControlLayer(
        image=str(folder / "map.png"), network=str(folder / f"net{seed}.safetensors")
    )


def bytes_of(compiler: Compiler, *networks: Network | None) -> int:
    return sum(compiler.runs_bytes(((network, _F32),)) for network in networks if network)


def test_a_step_has_the_runs_of_control_networks_at_the_size_of_each_pass(
    folder: Path, compiler: Compiler, needed: Needs
) -> None:
    layers, second = (layer(folder), layer(folder, 1)), (SecondPass(scale=2.0, strength=0.5),)
    small, _ = needed(*layers)
    large, plan = needed(*layers, second_passes=second)
    steps = [run for run in plan.runs if run.beside]
    found = [bytes_of(compiler, run.network, *run.beside) for run in steps]
    assert found == [small.step_bytes, large.step_bytes]
    assert large.step_bytes > 3.5 * small.step_bytes
    assert len(small.controls) == len(large.controls) == 2
    plain, _ = needed()
    assert small.step_bytes - plain.step_bytes == bytes_of(compiler, *steps[0].beside)


def test_a_step_has_the_run_of_a_reference(folder: Path, compiler: Compiler, needed: Needs) -> None:
    reference = ControlLayer(image=str(folder / "map.png"), preprocessor=ReferenceOptions())
    needs, plan = needed(reference)
    (step,) = (run for run in plan.runs if run.beside)
    assert needs.step_bytes == bytes_of(compiler, step.network, *step.beside)
    assert needs.reference is not None
    # The VAE encodes the picture.
    assert needs.vae_run_bytes >= bytes_of(compiler, plan.vaes[0].encoder)


def test_texts_and_maps_are_encoded_by_networks_that_are_counted(
    folder: Path, compiler: Compiler, needed: Needs
) -> None:
    needs, plan = needed(layer(folder))
    assert needs.text_run_bytes == bytes_of(compiler, *plan.read.first.texts[0].networks) > 0
    (control,) = (control for control in plan.controls if control)
    assert needs.picture_run_bytes == bytes_of(compiler, *control.embedding_networks) > 0
    # Its weights are a part of the file's.
    (maps,), (steps,) = needs.picture_encoders, needs.controls
    assert 0 < maps.packed < steps.packed / 10


def test_weights_of_a_control_network_that_nothing_takes_are_not_counted(
    folder: Path, compiler: Compiler
) -> None:
    """The text of the last double block goes nowhere where no single block follows."""
    flux, net = folder / "led.safetensors", folder / "flux-depth-controlnet.safetensors"
    write_flux(flux)
    write_arrays(net, drawn(xlabs(SIZES)))
    leading = ControlLayer(image=str(folder / "map.png"), network=str(net))
    request = a_request(flux, width=64, height=64, controls=(leading,))
    needs = memory_needs(read_job(resolve_job(request, load_checkpoints(request))), compiler)
    weights = WeightSet("net", read_control_network(net).weights)
    idle = [w for name, w in weights.items() if "to_add_out" in name or "ff_context" in name]
    every, (steps,), (maps,) = weights.values(), needs.controls, needs.picture_encoders
    counted = steps.bound + maps.bound
    assert counted == 4 * (sum(w.elements for w in every) - sum(w.elements for w in idle))


def test_the_vae_of_each_checkpoint_is_counted(folder: Path, compiler: Compiler) -> None:
    flux = write_flux(folder / "flux.safetensors")

    def needs(first: Path, *seconds: Path) -> MemoryNeeds:
        passes = (SecondPass(scale=1, upscaler="lanczos", checkpoint=str(one)) for one in seconds)
        request = a_request(
            first,
            sampler=SamplerName.EULER,
            schedule=ScheduleName.SIMPLE,
            width=64,
            height=64,
            second_passes=tuple(passes),
        )
        return memory_needs(read_job(resolve_job(request, load_checkpoints(request))), compiler)

    tiny = folder / "tiny"
    alone = [needs(one) for one in (tiny, flux)]
    assert alone[0].vae.packed != alone[1].vae.packed
    for first, second in ((tiny, flux), (flux, tiny)):
        both = needs(first, second)
        assert both.vae.packed == sum(one.vae.packed for one in alone)
        assert both.vae_run_bytes >= max(one.vae_run_bytes for one in alone)
        # Passes of one file load it once.
        again = needs(first, second, second)
        assert (again.vae, again.later, again.text_encoder) == (
            both.vae,
            both.later,
            both.text_encoder,
        )
    assert needs(tiny, tiny).vae == alone[0].vae


def test_a_lora_of_a_later_pass_alone_is_counted(folder: Path, compiler: Compiler) -> None:
    lora = FileLora(folder / "loras" / "ink.safetensors", folder / "tiny").path
    files = NamedFiles(loras=LoraLookup((lora.parent,)))
    prompt = "a house <lora:ink:1>"

    def patched(**changes: object) -> int:
        request = a_request(folder / "tiny", convention=ConventionName.A1111, **changes)
        read = read_job(resolve_job(request, load_checkpoints(request), files))
        return memory_needs(read, compiler).denoiser.patched

    later = SecondPass(scale=1, upscaler="lanczos", prompt=prompt)
    assert patched(second_passes=(later,)) == patched(prompt=prompt) > 0


def test_a_picture_that_is_cut_for_a_second_pass_is_counted_whole(
    compiler: Compiler, needed: Needs
) -> None:
    """A1111 enlarges a picture in its shape until it fills the size, and cuts off the rest."""
    second = SecondPass(width=64, height=512, upscaler="lanczos")
    asked = {"width": 64, "height": 64, "convention": ConventionName.A1111}
    needs, plan = needed(**asked, second_passes=(second,))
    (enlargement,) = plan.enlargements
    assert enlargement.encoding.cells[0] == enlargement.encoding.cells[1]
    assert needs.vae_run_bytes >= bytes_of(compiler, enlargement.encoding.encoder)


def test_a_working_copy_of_another_runtimes_layout_is_none(tmp_path: Path) -> None:
    """OpenVINO sums kernels for doubled pictures, so that ONNX Runtime's copy is no use to it."""

    class Summing(Keeping):
        """Sums them, too."""

        def operators(self, device: Device) -> OperatorSet:
            return msgspec.structs.replace(
                super().operators(device), upsampling=UpsamplingForm.TRANSPOSED
            )

    request = a_request(write_checkpoint(tmp_path / "tiny", dtype=DType.F16))
    read = read_job(resolve_job(request, load_checkpoints(request)))
    networks = filter(None, (run.network for run in plan_pictures(read, PLACEMENT).runs))
    denoiser = next(network for network in networks if network.name == "denoiser")
    copies, counted = WorkingCopies(tmp_path / "copies"), CountedResults()

    def mapped(backend: Keeping, *, loads: bool) -> list[int]:
        """The bytes of a denoiser that are mapped, and converted; `loads` it first."""
        compiler = Compiler(backend, backend.probe()[0], copies, counted=counted)
        if loads:
            place = WeightPlacement.WORKING_COPY
            compiler.load(denoiser, _F32, place, lambda _d, _t: None, CancelToken()).close()
        weights = memory_needs(read, compiler).denoiser
        return [weights.mapped, weights.converted]

    plain, summing = Keeping(), Summing()
    _, whole = mapped(plain, loads=False)
    assert mapped(plain, loads=True) == [whole, whole]
    assert mapped(summing, loads=False) == [0, whole]
    assert mapped(summing, loads=True) == [whole, whole]
    assert mapped(plain, loads=False) == [whole, whole]
