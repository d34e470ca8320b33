"""Residuals of control networks: weighted, masked and added where the networks compute.

Each device runs this in its ring; with a card, `python -m pytest -m gpu tests/pipeline` does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

from backends.base import (
    Array,
    Artifact,
    Backend,
    Cancellation,
    Device,
    DeviceValue,
    DType,
    Feed,
    Feeds,
    Graph,
    Precision,
    Progress,
    Session,
    ShapeSupport,
    host_values,
)
from backends.cpu import CpuBackend
from backends.null import Compiling, NullBackend
from backends.webgpu import SOFTWARE
from engine.api.control import ControlLayer, ControlMode
from engine.api.request import GenerateRequest, GuidanceOptions
from engine.api.second_passes import SecondPass
from engine.compile.artifacts import ArtifactStore
from engine.control.residuals import before, mask_inputs, residual_inputs
from engine.graphs.control_net import ControlNetConfig, control_net
from engine.graphs.control_residuals import BEFORE, MASK
from engine.graphs.operators import GraphBuilder
from engine.graphs.t2i_adapter import adapter_residuals
from tests.backends.samples import Target, relative_error
from tests.backends.test_contract import (
    FIRST,
    every,
    every_runtime,
    every_runtime_of_networks,
)
from tests.control.small import (
    SMALL_ADAPTER,
    as_they_are,
    control_net_arrays,
    small_control_net,
)
from tests.graphs.networks import Emit, graph_in_memory, wanted
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.jobs import a_request, psnr, run
from tests.thinned import thinned
from tests.tiny_checkpoint import SIDE, write_checkpoint

# --- the graph ---

CELLS = (6, 10)


@every_runtime_of_networks
def test_residuals_are_picked_weighted_masked_and_added_as_in_numpy(target: Target) -> None:
    config, random = small_control_net(), np.random.default_rng(3)
    session = loaded(target, config)
    inputs = feeds_of(config)
    plain = session.run(inputs | as_they_are(config, 2, CELLS))
    rows, count = [1, 0, 1], len(plain)
    weights = random.standard_normal((len(rows), count), np.float32)
    weights[0] = 0
    masks = {
        name: random.random(ones.shape, np.float32)
        for name, ones in as_they_are(config, 2, CELLS).items()
        if name.startswith(MASK)
    }
    own = inputs | residual_inputs(rows, weights) | masks
    alone = session.run(own)
    others = {
        name.replace("control", BEFORE): random.standard_normal(array.shape, np.float32)
        for name, array in alone.items()
    }
    added = session.run(own | others)
    for i, halved in enumerate(config.halvings):
        name = f"control.{i}"
        factors = weights[:, i, None, None, None] * masks[f"{MASK}.{halved}"]
        expected = plain[name][rows] * factors
        # A runtime may compute all of it in half precision.
        assert relative_error(alone[name], expected) < 5e-3
        assert relative_error(added[name], expected + others[f"{BEFORE}.{i}"]) < 5e-3
        assert not alone[name][0].any()
    session.close()


@every_runtime
def test_an_adapters_images_are_weighted_and_added_as_in_numpy(target: Target) -> None:
    def emit(g: GraphBuilder) -> None:
        adapter_residuals(g, SMALL_ADAPTER)

    random = np.random.default_rng(4)
    session = loaded_graph(target, emit, {})
    weights = np.array([[0.5, -1.5], [0, 0]], np.float32)
    images = {
        f"image.{level}": random.standard_normal((1, width, 6 >> level, 10 >> level), np.float32)
        for level, width in enumerate((32, 64))
    }
    feeds = images | residual_inputs((0, 0), weights) | mask_inputs(session.inputs, CELLS)
    made = session.run_on_device(feeds)
    others = {name: value.numpy() for name, value in made.items()}
    added = session.run(feeds | {before(name): array for name, array in others.items()})
    for level in range(2):
        expected = images[f"image.{level}"] * weights[:, level, None, None, None]
        assert relative_error(added[f"adapter.{level}"], 2 * expected) < 5e-3
    session.close()


def loaded(target: Target, config: ControlNetConfig) -> Session:
    def emit(g: GraphBuilder) -> None:
        control_net(g, config)

    arrays = control_net_arrays(config)
    return loaded_graph(target, emit, {name: arrays[name] for name in wanted(emit)})


def loaded_graph(target: Target, emit: Emit, weights: dict[str, Array]) -> Session:
    operators = target.backend.operators(target.device)
    precision = target.precision
    return target.load(graph_in_memory(emit, weights, operators, target.element, precision))


def feeds_of(config: ControlNetConfig) -> dict[str, Array]:
    random, encoder = np.random.default_rng(1), config.encoder
    shapes = {
        "sample": (1, encoder.in_channels, *CELLS),
        "timestep_embedding": (1, encoder.down[0].width),
        "context": (2, 77, encoder.context_width),
        "map_embedding": (1, encoder.down[0].width, *CELLS),
    }
    return {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}


# --- pictures ---


@dataclass(frozen=True, eq=False)
class Left:
    """A result that nobody may bring to main memory."""

    inner: DeviceValue

    @property
    def shape(self) -> tuple[int, ...]:
        return self.inner.shape

    @property
    def dtype(self) -> DType:
        return self.inner.dtype

    def numpy(self) -> Array:
        raise AssertionError("a residual was brought to main memory")


class Watching(Backend):
    """A backend whose results stay on the device for good, or with `at_home` all come back.

    `crossed` has the bytes of arrays that runs were given and gave, by names of networks.
    """

    def __init__(self, backend: Backend, device: Device, *, at_home: bool = False) -> None:
        self.name, self._backend, self._device = backend.name, backend, device
        self.at_home = at_home
        self.crossed: dict[str, list[int]] = {}
        self.fed: set[str] = set()
        self.fingerprint, self.memory = backend.fingerprint, backend.memory
        self.operators, self.compilation = backend.operators, backend.compilation
        self.compile = backend.compile

    def probe(self) -> list[Device]:
        return [self._device]

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        session = self._backend.load(graph, artifact, device, progress, cancel)
        return _Watched(session, self, graph.name)


class _Watched:
    def __init__(self, session: Session, watching: Watching, name: str) -> None:
        self.inputs, self.outputs = session.inputs, session.outputs
        self.pin, self.cancel, self.close = session.pin, session.cancel, session.close
        self._session, self._watching, self._name = session, watching, name

    def run(self, feeds: Feeds) -> dict[str, Array]:
        results = self._session.run(self._given(feeds))
        self._count(results)
        return results

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        if self._watching.at_home:
            return host_values(self.outputs, self.run(feeds))
        results = self._session.run_on_device(self._given(feeds))
        self._count({})
        return {name: Left(value) for name, value in results.items()}

    def _given(self, feeds: Feeds) -> dict[str, Feed]:
        arrays = {n: feed for n, feed in feeds.items() if isinstance(feed, np.ndarray)}
        if self._watching.at_home:
            arrays = {n: f if isinstance(f, np.ndarray) else f.numpy() for n, f in feeds.items()}
        self._watching.fed |= arrays.keys()
        self._sent = sum(array.nbytes for array in arrays.values())
        return {n: feed.inner if isinstance(feed, Left) else feed for n, feed in feeds.items()}

    def _count(self, results: Mapping[str, Array]) -> None:
        back = sum(array.nbytes for array in results.values())
        self._watching.crossed.setdefault(self._name, []).append(self._sent + back)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("residuals")
    write_checkpoint(folder / "tiny")
    for seed in range(2):
        write_control_net(folder / f"net{seed}.safetensors", folder / "tiny", seed)
        write_map(folder / f"map{seed}.png", seed)
    write_map(folder / "large.png", 5, (2 * SIDE, 2 * SIDE))
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[:, : SIDE // 2] = 255
    Image.fromarray(levels).save(folder / "left.png")
    return folder


def layer(folder: Path, net: str = "net0", **changes: Any) -> ControlLayer:
    network = str(folder / f"{net}.safetensors")
    return replace(ControlLayer(image=str(folder / "map0.png"), network=network), **changes)


def requests(folder: Path) -> dict[str, GenerateRequest]:
    """A request for each way that layers act."""

    def led(*layers: ControlLayer, **changes: object) -> GenerateRequest:
        return a_request(folder / "tiny", controls=layers, **changes)

    first, second = layer(folder, weight=0.8), layer(folder, "net1", weight=-0.5)
    return {
        "one": led(first),
        "two": led(first, second),
        "a part of the steps": led(first, replace(second, range=(0.4, 1.0))),
        "the prompt alone": led(replace(first, mode=ControlMode.CONTROL)),
        "a fading prompt": led(replace(first, mode=ControlMode.PROMPT), second),
        "a mask": led(replace(first, mask=str(folder / "left.png")), second),
        "perturbed attention": led(first, guidance_options=GuidanceOptions(pag_scale=2.0)),
        "tiles": led(replace(first, image=str(folder / "large.png")), second_passes=TILES),
    }


TILES = (SecondPass(scale=1.25, tile=SIDE, steps=2, strength=0.5),)
WAYS = (
    *("one", "two", "a part of the steps", "the prompt alone", "a fading prompt", "a mask"),
    *("perturbed attention", "tiles"),
)


@pytest.mark.parametrize("way", thinned(WAYS, ["two", "a mask", "tiles"]))
def test_no_residual_is_brought_to_main_memory(folder: Path, way: str) -> None:
    request, backend = requests(folder)[way], CpuBackend()
    watching = Watching(backend, backend.probe()[0])
    pixels = run(request, watching).pixels[0]
    assert not {name for name in watching.fed if name.startswith(("control.", "adapter.", BEFORE))}
    at_home = Watching(backend, backend.probe()[0], at_home=True)
    np.testing.assert_array_equal(run(request, at_home).pixels[0], pixels)
    plain = run(a_request(folder / "tiny", second_passes=request.second_passes), backend)
    assert psnr(pixels, plain.pixels[0]) < 50


# A picture takes minutes with WebGPU on a processor, and seconds with OpenVINO.
@every(
    (target for target in FIRST if target.computes and target.device.id != SOFTWARE),
    seldom="intel_openvino",
)
def test_a_step_with_two_networks_copies_no_more_than_latents(
    target: Target, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = requests(folder)["two"]
    found: dict[bool, tuple[Array, dict[str, list[int]]]] = {}
    for at_home in (False, True):
        watching = Watching(target.backend, target.device, at_home=at_home)
        # In half precision two sessions of one network differ by the kernels that each one's
        # search takes, 44 dB in the picture with CUDA on an H100.
        result = run(request, watching, (Precision.F32,))
        found[at_home] = result.pixels[0], watching.crossed
    assert psnr(found[False][0], found[True][0]) > 60
    names = ("control", "control 2", "denoiser")
    here, home = (sum(max(crossed[n]) for n in names) for _, crossed in found.values())
    with capsys.disabled():
        print(f"\n{target.device.name}: {here} bytes a step, {home} through main memory")  # noqa: T201
    # The sample and the timestep for each network, and the predictions.
    assert here < 3 * 40_000
    assert home > here + 4 * 500_000


# --- what is compiled ---


@pytest.mark.parametrize(
    "shapes", thinned([ShapeSupport.STATIC, ShapeSupport.RANGES], [ShapeSupport.RANGES])
)
def test_layers_compile_nothing_for_the_denoiser_and_weights_nothing_at_all(
    folder: Path, tmp_path: Path, shapes: ShapeSupport
) -> None:
    journal, store = tmp_path / "journal", ArtifactStore(tmp_path / "compiled")

    def compiled(*layers: ControlLayer, **changes: object) -> list[str]:
        """The networks that a picture compiles, beside those of pictures before it."""
        journal.write_text("")
        how = Compiling(shapes, carries_weights=True, journal=str(journal))
        request = a_request(folder / "tiny", controls=layers, **changes)
        run(request, NullBackend(compiling=how), store=store)
        return sorted(journal.read_text().split("\n")[:-1])

    first, second = layer(folder), layer(folder, "net1")
    assert "denoiser" in compiled()
    assert compiled(first) == ["control", "control_embedding"]
    assert compiled(first, second) == ["control 2", "control_embedding 2"]
    assert compiled() == []
    for changes in (
        {"weight": 0.3},
        {"range": (0.3, 0.6)},
        {"mode": ControlMode.PROMPT},
        {"mode": ControlMode.CONTROL},
        {"mask": str(folder / "left.png")},
        {"image": str(folder / "map1.png")},
    ):
        assert compiled(replace(first, **changes), second) == [], changes
