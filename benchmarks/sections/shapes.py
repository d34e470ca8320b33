"""The cost of dynamic shapes: one compile for all sizes compared with one compile per size."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time

import msgspec
from onnx import ModelProto

from backends import registry
from backends.base import Backend, Device, DType, Graph, Precision, Session, size_of
from benchmarks.measure import Series, interleave
from benchmarks.networks import random_feeds
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting, first_and_rest
from benchmarks.workload import Array
from engine.cancel import CancelToken
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.graphs.vae import VaeConfig, vae_decoder
from tests.graphs.networks import Emit, graph_in_memory, random_weights

DYNAMIC, STATIC = "dynamic", "static"
# The largest allowed ratio of one compile for all sizes to one per size, and the backends measured.
_LIMIT = 1.05
_RUNTIMES: tuple[tuple[str, Precision], ...] = (
    ("intel_openvino", Precision.BF16),
    ("cpu", Precision.F32),
    ("torch_device", Precision.F32),
)
_TOKENS = 77


def sd_unet(part: int) -> UNetConfig:
    """Return SD 1.5's UNet with every width divided by `part`."""
    width, text = 320 // part, 768 // part

    def level(times: int, depth: int, count: int, *, resample: bool) -> UNetBlock:
        return UNetBlock(times * width, (depth,) * count, 8, resample)

    return UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=text,
        down=(
            level(1, 1, 2, resample=True),
            level(2, 1, 2, resample=True),
            level(4, 1, 2, resample=True),
            level(4, 0, 2, resample=False),
        ),
        mid=level(4, 1, 1, resample=False),
        up=(
            level(4, 0, 3, resample=True),
            level(4, 1, 3, resample=True),
            level(2, 1, 3, resample=True),
            level(1, 1, 3, resample=False),
        ),
        norm_groups=8,
    )


def sd_vae(part: int) -> VaeConfig:
    """Return SD 1.5's decoder with every width divided by `part`."""
    widths = tuple(width // part for width in (128, 256, 512, 512))
    return VaeConfig(latent_channels=4, widths=widths, layers=2, norm_groups=8)


NETWORKS: Mapping[str, Emit] = {
    "UNet of an eighth of the widths": partial(unet, config=sd_unet(8), halves_evenly=True),
    "VAE decoder of an eighth of the widths": partial(vae_decoder, config=sd_vae(8)),
}
# Networks measured only on the fastest runtime; the full-size UNet would need 8 GB for its random
# weights.
LARGE: Mapping[str, Emit] = {
    "UNet of half the widths": partial(unet, config=sd_unet(2), halves_evenly=True),
    "VAE decoder, full size": partial(vae_decoder, config=sd_vae(1)),
}
# Side in pixels and batch size.
_PICTURES: tuple[tuple[int, int], ...] = ((512, 1), (512, 2), (768, 1), (768, 2))
_FEW = ((512, 1), (768, 2))


@dataclass(frozen=True, slots=True)
class Work:
    """A network and its pictures: side in pixels, and number at once."""

    network: str
    emit: Emit
    pictures: tuple[tuple[int, int], ...]


def shapes(setting: Setting) -> Findings:
    """Measure small networks at each size on each runtime, large ones on the fastest."""
    rows: list[tuple[Cell, ...]] = []
    ratios: dict[str, list[float]] = {}
    for name, precision in _RUNTIMES:
        found = usable(name, precision)
        if found is None:
            rows.append((f"{name} {precision}: not here", *("-",) * 8))
            continue
        for work in _work(setting, large=(name, precision) == _RUNTIMES[0]):
            measured = compare(setting, *found, precision, work)
            rows += [row for row, _ in measured]
            ratios.setdefault(name, []).extend(ratio for _, ratio in measured)
    table = Table(
        "One compile for every size, or one for each",
        (
            "runtime, network, size, batch",
            "dynamic s",
            "static s",
            "dynamic / static",
            "processor time ratio",
            "dynamic load s",
            "static load s",
            "dynamic first s",
            "static first s",
        ),
        tuple(rows),
        "SD 1.5's networks with random weights, guided, in one process, taking turns; medians, and "
        "medians of the ratios of each round. First: the first run at this size. The dynamic "
        "session is loaded once for all of a network's sizes. Processor time tells more where "
        "others use the machine.",
    )
    targets = tuple(
        Target(f"{name}: dynamic / static, processor time, worst", max(found), _LIMIT, "")
        for name, found in ratios.items()
    )
    return Findings((table,), targets)


def usable(name: str, precision: Precision) -> tuple[Backend, Device] | None:
    """Return a backend and its processor; None if not installed or without that precision."""
    reference = registry.find(name)
    if reference is None:
        return None
    backend = reference.create()
    devices = (d for d in backend.probe() if d.id == "cpu" and precision in d.precisions)
    device = next(devices, None)
    return None if device is None else (backend, device)


def _work(setting: Setting, *, large: bool) -> list[Work]:
    pictures = _FEW if setting.quick else _PICTURES
    work = [Work(network, emit, pictures) for network, emit in NETWORKS.items()]
    if large:
        work += [Work(network, emit, ((512, 1),)) for network, emit in LARGE.items()]
    return work


def compare(
    setting: Setting, backend: Backend, device: Device, precision: Precision, work: Work
) -> list[tuple[tuple[Cell, ...], float]]:
    """Return for each picture size and batch a row and the ratio of processor times."""
    operators = backend.operators(device)
    element = precision.dtype if precision.dtype in operators.elements else DType.F32
    graph = graph_in_memory(work.emit, random_weights(work.emit), operators, element, precision)
    load_s, dynamic = _timed_load(backend, device, graph)
    found: list[tuple[tuple[Cell, ...], float]] = []
    for pixels, batch in work.pictures:
        label = f"{backend.name} {precision}, {work.network}, {pixels}x{pixels}, {batch}"
        setting.say(f"  {label}")
        sizes = sizes_of_picture(pixels, batch)
        static_load_s, static = _timed_load(backend, device, fixed(graph, sizes))
        times, ratio = _turns(setting, dynamic, static, random_feeds(graph, sizes))
        static.close()
        found.append(((label, *times[:4], load_s, static_load_s, *times[4:]), ratio))
        setting.say(f"    {', '.join(f'{number:.2f}' for number in times)}")
    dynamic.close()
    return found


def _turns(
    setting: Setting, dynamic: Session, static: Session, feeds: Mapping[str, Array]
) -> tuple[tuple[float, ...], float]:
    """Return a row's numbers, and the ratio of processor times.

    The numbers are medians, ratios of time and of processor time, and first runs.
    """
    cpu = {DYNAMIC: Series(), STATIC: Series()}
    contestants = {
        name: partial(_timed_run, session, feeds, cpu[name])
        for name, session in ((DYNAMIC, dynamic), (STATIC, static))
    }
    firsts, rest = first_and_rest(interleave(contestants, 1 + setting.rounds(5)))
    used = first_and_rest(cpu)[1]
    ratio = used[DYNAMIC].ratio_to(used[STATIC])
    medians = (rest[DYNAMIC].median, rest[STATIC].median)
    time_ratio = rest[DYNAMIC].ratio_to(rest[STATIC])
    return (*medians, time_ratio, ratio, firsts[DYNAMIC], firsts[STATIC]), ratio


def sizes_of_picture(pixels: int, batch: int) -> dict[str, int]:
    """Return all dynamic dimensions of a denoiser or decoder for square, guided pictures."""
    cells = pixels // 8
    return {
        "batch": batch,
        "height": cells,
        "width": cells,
        "contexts": 2 * batch,
        "tokens": _TOKENS,
    }


def fixed(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """Return the graph for one size: each dynamic dimension of its inputs gets a fixed value."""
    model = ModelProto.FromString(graph.model)
    for value in model.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param:
                dimension.dim_value = size_of(dimension.dim_param, sizes)
    inputs = tuple(
        msgspec.structs.replace(spec, shape=tuple(size_of(n, sizes) for n in spec.shape))
        for spec in graph.inputs
    )
    return msgspec.structs.replace(graph, model=model.SerializeToString(), inputs=inputs)


def _timed_run(session: Session, feeds: Mapping[str, Array], cpu: Series) -> float:
    start, used = perf_counter(), process_time()
    session.run(feeds)
    cpu.values.append(process_time() - used)
    return perf_counter() - start


def _timed_load(backend: Backend, device: Device, graph: Graph) -> tuple[float, Session]:
    start = perf_counter()
    session = backend.load(graph, None, device, lambda _done: None, CancelToken())
    return perf_counter() - start, session
