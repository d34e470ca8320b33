"""Control layers add in each evaluation what they add in A1111's and in ComfyUI's own loops.

Those were frozen by `freeze_a1111_controls` and `freeze_comfy_controls`. Here a request runs
through the whole pipeline, on a backend whose control networks answer with ones.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import (
    Array,
    Artifact,
    Cancellation,
    Device,
    Graph,
    Progress,
    Session,
    host_array,
    host_values,
)
from backends.null import NullBackend
from backends.tensors import DeviceValue, Feeds
from engine.api.control import ControlLayer
from engine.api.control_rules import RangeRule
from engine.api.conventions import CONVENTIONS
from engine.api.evaluations import step_places
from engine.api.preprocessors import CannyOptions
from engine.api.request import InputImage
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, InputRole
from engine.control.adapter_files import image_places
from engine.control.residuals import before
from engine.graphs.control_residuals import WEIGHTS
from engine.pipeline.control.acting import ActingSteps, StepCount
from engine.pipeline.control.strengths import leads_negative, residual_weights
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.schedules.edm import EdmSchedule
from engine.sampling.schedules.flow import FlowSchedule
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.control_loops import A1111, ADAPTIVE, COMFY, SHARES, Led, Loop
from tests.pipeline.jobs import a_request, run
from tests.thinned import thinned
from tests.tiny_checkpoint import SIDE, write_checkpoint

Numbers = NDArray[np.float32]
FROZEN = Path(__file__).parent / "frozen"
TOOLS = {"a1111": (ConventionName.A1111, A1111), "comfy": (ConventionName.COMFY, COMFY)}
CASES = [(tool, name) for tool, (_, loops) in TOOLS.items() for name in loops]
# Adapters have no place for their images in the tiny checkpoint.
THROUGH_THE_PIPELINE = [case for case in CASES if not case[1].startswith("adapter")]


class OnesBackend(NullBackend):
    """`added` has for each evaluation of the denoiser what is added to its residuals."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[Numbers] = []

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        session = super().load(graph, artifact, device, progress, cancel)
        network = graph.name.split(" ")[0]
        if network in {"control", "denoiser"}:
            return _OnesSession(session, self.added if network == "denoiser" else None)
        return session


class _OnesSession:
    """The denoiser's, which has `added`, or a control network's: all of its residuals are ones."""

    def __init__(self, session: Session, added: list[Numbers] | None) -> None:
        self.inputs, self.outputs = session.inputs, session.outputs
        self.cancel, self.close = session.cancel, session.close
        self._session, self._added = session, added
        self._weights = np.zeros(0, np.float32)

    def pin(self, name: str, array: Array) -> None:
        if name == WEIGHTS:
            self._weights = array
        self._session.pin(name, array)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        found = self._session.run(feeds)
        if self._added is None:
            return {name: self._weighted(name, array, feeds) for name, array in found.items()}
        places = sum(spec.name.startswith("control.") for spec in self.inputs)
        added = np.zeros((2, places), np.float32)
        for place in range(places):
            if (given := feeds.get(f"control.{place}")) is not None:
                added[:, place] = host_array(given).mean(axis=(1, 2, 3))
        self._added.append(added)
        return found

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        return host_values(self.outputs, self.run(feeds))

    def _weighted(self, name: str, residual: Array, feeds: Feeds) -> Array:
        place = int(name.rpartition(".")[2])
        weighted = np.ones_like(residual) * self._weights[:, place : place + 1]
        earlier = feeds.get(before(name))
        return weighted if earlier is None else weighted + host_array(earlier)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loops")
    write_checkpoint(folder / "tiny")
    # The name tells that residuals are means.
    for name in ("net", "shuffle"):
        write_control_net(folder / f"{name}.safetensors", folder / "tiny")
    write_map(folder / "map.png")
    Image.new("RGB", (SIDE, SIDE), (90, 20, 150)).save(folder / "init.png")
    return folder


def layer(led: Led, folder: Path = Path()) -> ControlLayer:
    name = "shuffle" if led.means else "net"
    return ControlLayer(
        image=str(folder / "map.png"),
        network=str(folder / f"{name}.safetensors"),
        preprocessor=CannyOptions(resolution=64) if led.module == "canny" else None,
        weight=led.weight,
        range=led.range,
        mode=led.mode,
    )


def added(loop: Loop, tool: ConventionName, folder: Path) -> Numbers:
    """Run a request; return the numbers that it adds, [evaluations, rows, residuals]."""
    changes: dict[str, object] = {}
    if loop.strength < 1:
        changes["inputs"] = (InputImage(role=InputRole.INIT, path=str(folder / "init.png")),)
        changes["strength"] = loop.strength
    if loop.enlarged:
        changes["second_passes"] = (SecondPass(strength=0.6, steps=loop.steps),)
    if tool is ConventionName.COMFY:
        changes["schedule"] = loop.schedule
    request = a_request(
        folder / "tiny",
        controls=tuple(layer(led, folder) for led in loop.layers),
        sampler=loop.sampler,
        steps=loop.steps,
        guidance=7.0,
        convention=tool,
        **changes,
    )
    backend = OnesBackend()
    run(request, backend)
    return np.stack(backend.added)


@pytest.mark.parametrize(("tool", "name"), thinned(THROUGH_THE_PIPELINE, THROUGH_THE_PIPELINE[::4]))
def test_a_run_adds_what_the_tools_does(tool: str, name: str, folder: Path) -> None:
    convention, loops = TOOLS[tool]
    ours = added(loops[name], convention, folder)
    with np.load(FROZEN / f"{tool}_controls.npz") as file:
        theirs = file[name]
    places = ours.shape[2]
    if theirs.shape[2] > 1:  # else nothing is added at all
        assert theirs.shape[2] > places
    # The tiny network has fewer blocks, whose residuals are counted from the outermost, too.
    expected = np.broadcast_to(theirs[:, :, :places], ours.shape)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.parametrize(("tool", "name"), CASES)
def test_residuals_weigh_what_the_tools_do(tool: str, name: str) -> None:
    convention, loops = TOOLS[tool]
    rules, loop = CONVENTIONS[convention].control, loops[name]
    if len(loop.layers) != 1 or loop.enlarged:
        return
    led = loop.layers[0]
    with np.load(FROZEN / f"{tool}_controls.npz") as file:
        acting = [pair for pair in file[name] if pair.any()]
    weights = residual_weights(
        layer(led),
        rules,
        acting[0].shape[1] if acting else 1,
        means=led.means,
        adapts=image_places("sd1") if led.adapts else None,
    )
    leads = leads_negative(layer(led), rules, means=led.means)
    for positive, negative in acting:
        np.testing.assert_allclose(positive, weights, rtol=1e-6)
        np.testing.assert_allclose(negative, np.array(weights) * leads, rtol=1e-6)


def test_networks_of_sd_1_sdxl_and_adapters_have_as_many_residuals() -> None:
    with np.load(FROZEN / "a1111_controls.npz") as file:
        found = [file[name].shape[2] for name in ("prompt", "sdxl prompt", "adapter prompt")]
    assert found == [13, 10, 4]


def test_dpm_adaptives_steps_are_a1111s() -> None:
    (loop,) = ADAPTIVE.values()
    with np.load(FROZEN / "a1111_controls.npz") as file:
        theirs = file["adaptive"].any(axis=(1, 2))
    assert len(theirs) > 20
    places = step_places(loop.sampler, loop.steps, ConventionName.A1111)
    count = StepCount(loop.steps, places, late=True)
    acting = ActingSteps(RangeRule.FINISHED, count, lambda share: share)
    ours = [acting.acts(loop.layers[0].range, place, 0.0) for place in range(len(theirs))]
    assert ours == theirs.tolist()


@pytest.mark.parametrize("name", ["epsilon", "zero terminal", "edm", "flow"])
def test_a_share_is_comfys_level(name: str) -> None:
    comfy = ConventionName.COMFY
    schedules: dict[str, NoiseSchedule] = {
        "epsilon": NoiseSchedule.scaled_linear(convention=comfy),
        "zero terminal": NoiseSchedule.scaled_linear(convention=comfy).with_zero_terminal_snr(),
        "edm": EdmSchedule.between(0.002, 80.0, 0.5, comfy),
        "flow": FlowSchedule.of(3.0, comfy),
    }
    with np.load(FROZEN / "comfy_controls.npz") as file:
        theirs = file[f"levels/{name}"]
    ours = [schedules[name].level_at(share) for share in SHARES]
    np.testing.assert_allclose(ours[1:], theirs[1:], rtol=1e-6)
    # All of a run: no level is above.
    assert ours[0] >= theirs[0]
