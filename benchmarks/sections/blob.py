"""OpenVINO's stored networks on a processor: the time to load them, and their speed.

Each way of loading has a process of its own and takes turns with a process that compiled afresh.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

from benchmarks.child import Answer, Child
from benchmarks.measure import Series, interleave
from benchmarks.networks import DECODER, TEXT, UNET
from benchmarks.peers.openvino_blob import FRESH, IMPORT, WAYS
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import Setting, first_and_rest

_SIZES: dict[str, dict[str, int]] = {
    TEXT: {"batch": 2},
    DECODER: {"batch": 1, "height": 32, "width": 32},
    UNET: {"batch": 1, "height": 64, "width": 64, "contexts": 2, "tokens": 77},
}
_PRECISION = "bf16"


def blob(setting: Setting) -> Findings:
    """Return a table of times and memory, and a table of how the compiled networks differ."""
    rows: list[tuple[Cell, ...]] = []
    differences: list[tuple[Cell, ...]] = []
    with setting.empty_cache() as cache:
        for network in _SIZES:
            folder = cache / network.replace(" ", "-")
            folder.mkdir()
            for way in WAYS:
                row, difference = compare(setting, setting.files.f16, network, way, folder)
                rows.append(row)
                differences += difference
    times = Table(
        "Loading a network in OpenVINO on a processor, and running it, bfloat16, 512x512",
        (
            "network, way",
            "stored MB",
            "taken from OpenVINO's cache",
            "load s",
            "load, processor s",
            "first run s",
            "run s",
            "run / fresh",
            "processor time / fresh",
            "private GB",
        ),
        tuple(rows),
        "SD 1.5, the UNet guided at 512x512, the VAE at 256x256. Each beside one that was compiled "
        "afresh, taking turns; medians. Weights are a mapped bfloat16 file. The ratios are medians "
        "over rounds; processor time tells more where others use the machine. Private memory is "
        "what loading and running added.",
    )
    layers = Table(
        "Layers that a compiled network and one loaded from what was stored do not share",
        ("network, way", "layer, kernel, type, layout", "fresh", "loaded"),
        tuple(differences) or (("all", "none", "-", "-"),),
    )
    return Findings((times, layers))


def compare(
    setting: Setting, checkpoint: Path, network: str, way: str, folder: Path
) -> tuple[tuple[Cell, ...], list[tuple[Cell, ...]]]:
    """Return a row comparing one way of loading with a fresh compile, and differing layers."""
    options = {
        "checkpoint": str(checkpoint),
        "network": network,
        "precision": _PRECISION,
        "folder": str(folder),
    }
    if way != FRESH:
        # The first process of a way only stores the network; it ends before the two measured
        # processes start, to free its memory.
        Child("blob", way=way, **options).close()
    with ExitStack() as stack:
        children = {
            name: stack.enter_context(Child("blob", way=how, **options))
            for name, how in (("fresh", FRESH), (way, way))
        }
        rounds = setting.rounds(3 if network == UNET else 5)
        times, cpu = _turns(setting, children, network, 1 + rounds)
        facts = children[way].ask("describe", way=way)
        reference = children["fresh"].ask("describe", way=FRESH)
    firsts, rest = first_and_rest(times)
    _, cpu_rest = first_and_rest(cpu)
    label = f"{network}, {way}"
    row: tuple[Cell, ...] = (
        label,
        facts["stored_bytes"] / 1e6 if way != FRESH else "-",
        "-" if way in (FRESH, IMPORT) else "yes" if facts["from_cache"] else "no",
        facts["load_s"],
        facts["load_cpu_s"],
        firsts[way],
        rest[way].median,
        rest[way].ratio_to(rest["fresh"]),
        cpu_rest[way].ratio_to(cpu_rest["fresh"]),
        facts["private_bytes"] / 1e9,
    )
    return row, _differences(label, reference, facts)


def _turns(
    setting: Setting, children: Mapping[str, Child], network: str, rounds: int
) -> tuple[dict[str, Series], dict[str, Series]]:
    """Return times and processor times of each child's runs."""
    cpu = {name: Series() for name in children}

    def run(name: str) -> float:
        answer = children[name].ask("run", sizes=_SIZES[network])
        cpu[name].values.append(answer["cpu_s"])
        return float(answer["seconds"])

    contestants = {name: partial(run, name) for name in children}
    return interleave(contestants, rounds, setting.report), cpu


def _differences(label: str, fresh: Answer, loaded: Answer) -> list[tuple[Cell, ...]]:
    """List the kinds of layers that occur more often in one network than in the other."""
    ours, theirs = (Counter(cast("dict[str, int]", found["layers"])) for found in (fresh, loaded))
    return [
        (label, kind.replace("|", " "), float(ours[kind]), float(theirs[kind]))
        for kind in sorted(ours | theirs)
        if ours[kind] != theirs[kind]
    ]
