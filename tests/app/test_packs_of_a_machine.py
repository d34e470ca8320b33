"""A machine is offered the packs that its cards can use, the best first."""

import msgspec
import pytest

from app.commands.pack_fit import preference, unfit_reason
from app.commands.pack_rows import PackAction, PackRow, PackStage, actions_of, standing
from app.commands.pack_shelf import Doings, Shelf, make_rows
from app.downloads.source import Source
from app.packs.catalogue import Pack
from app.packs.store import Installed
from engine.api.machine import AdapterInfo, DeviceInfo, MachineInfo, PrecisionFigures

WHEEL = Source("https://example.org/a.whl", (), "a.whl", 9, "0" * 64)
BACKENDS = {
    "intel-openvino": "intel_openvino",
    "nvidia-tensorrt-rtx": "nvidia_tensorrt_rtx",
    "nvidia-cuda": "nvidia_cuda",
    "webgpu": "webgpu",
    "torch-cuda": "torch_device",
    "torch-rocm": "torch_device",
}
PACKS = {
    name: Pack(id=name, title=name, summary="", backends=(backend,), version="1", wheels=(WHEEL,))
    for name, backend in BACKENDS.items()
}
INSTALLED = Installed(
    id="intel-openvino",
    version="1",
    title="OpenVINO",
    system="linux",
    machine="x86_64",
    python="",
    replaces_onnxruntime=False,
    backends=("intel_openvino",),
    wheels=(WHEEL,),
    files=(),
)


def machine(vendor: str, *backends: str) -> MachineInfo:
    card = AdapterInfo(vendor=vendor, name="A card", backends=backends)
    return MachineInfo(processor="A processor", memory_total_bytes=1, adapters=(card,))


GEFORCE = machine("NVIDIA", "nvidia_tensorrt_rtx", "nvidia_cuda", "webgpu", "torch_device")
RADEON = machine("AMD", "webgpu", "torch_device")
NO_CARD = MachineInfo(processor="A processor", memory_total_bytes=1)


@pytest.mark.parametrize(
    ("which", "suited"),
    [
        (
            GEFORCE,
            ["nvidia-tensorrt-rtx", "nvidia-cuda", "webgpu", "torch-cuda", "intel-openvino"],
        ),
        (RADEON, ["webgpu", "torch-rocm", "intel-openvino"]),
        (NO_CARD, ["intel-openvino"]),
    ],
    ids=["geforce", "radeon", "no card"],
)
def test_packs_are_in_the_order_in_which_the_cards_prefer_their_backends(
    which: MachineInfo, suited: list[str]
) -> None:
    ordered = sorted(PACKS.values(), key=lambda pack: preference(pack, which))
    assert [pack.id for pack in ordered if not unfit_reason(pack, which)] == suited


def test_a_pack_without_a_build_says_why_and_has_no_button() -> None:
    pack = msgspec.structs.replace(PACKS["webgpu"], wheels=(), unavailable="It is made for macOS.")
    (row,) = make_rows(Shelf({"webgpu": pack}, {}, {}), Doings(machine=GEFORCE))
    assert row.reason == "It is made for macOS."
    assert actions_of(row) == ()


def device(backend: str, milliseconds: float = 0.0, unusable: str = "") -> DeviceInfo:
    figures = (PrecisionFigures(precision="f32", milliseconds=milliseconds),)
    return DeviceInfo(
        backend=backend,
        name="A processor",
        precisions=("f32",),
        automatic=True,
        runtime="",
        memory_total_bytes=1,
        memory_free_bytes=1,
        unusable=unusable,
        figures=figures if milliseconds else (),
    )


def installed_row(chosen: DeviceInfo, *devices: DeviceInfo) -> PackRow:
    shelf = Shelf({"intel-openvino": PACKS["intel-openvino"]}, {"intel-openvino": INSTALLED}, {})
    doings = Doings(machine=NO_CARD, devices=devices, chosen=chosen, is_checked=True)
    (row,) = make_rows(shelf, doings)
    assert row.stage is PackStage.INSTALLED
    assert PackAction.REMOVE in actions_of(row)
    return row


CPU, FAST, SLOW = device("cpu", 400), device("intel_openvino", 100), device("intel_openvino", 500)
BROKEN = device("intel_openvino", unusable="it needs a newer processor")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (FAST, "intel-openvino is in use. It is about 4.0 times as fast as the plain processor"),
        (SLOW, "intel-openvino is installed. It is not faster than the plain processor"),
        (BROKEN, "intel-openvino is installed. It cannot be used: it needs a newer processor."),
    ],
    ids=["fast", "slow", "broken"],
)
def test_an_installed_pack_tells_how_it_did_here(own: DeviceInfo, said: str) -> None:
    chosen = FAST if own is FAST else CPU
    assert standing(installed_row(chosen, own, CPU)).startswith(said)


def test_a_runtime_that_came_with_safelight_is_not_offered_as_a_pack() -> None:
    shelf = Shelf({"intel-openvino": PACKS["intel-openvino"]}, {}, {})
    (row,) = make_rows(shelf, Doings(machine=NO_CARD, devices=(FAST, CPU), is_checked=True))
    assert row.reason == "This Safelight has it already."
