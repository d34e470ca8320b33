"""Whatever is in a file or comes out of a program, the answer is a list."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from backends.base import MemoryInfo
from backends.hardware import intel_memory, linux, macos, windows
from backends.hardware.adapter import PciId
from backends.hardware.dxcore import DxcoreAdapter
from backends.hardware.names import look_up_names, parse_lspci, parse_pci_ids
from backends.hardware.numbers import decimal, hexadecimal, size
from backends.hardware.nvml import Nvml
from backends.hardware.registry import parse_entry

HOST = MemoryInfo(total=1 << 34, free=1 << 33, integrated=True)
WANTED = {PciId(0x10DE, 0x2786)}
FILES = (
    "vendor",
    "device",
    "class",
    "product_name",
    "mem_info_vram_total",
    "mem_info_vram_used",
    "mem_info_gtt_total",
    "mem_info_gtt_used",
    "gpu_metrics",
)
# Bytes of any kind, and what is almost right.
contents = some.one_of(
    some.binary(max_size=64),
    some.sampled_from(
        [b"0x1002\n", b"0x10de", b"0x8086\n", b"0x030000\n", b"-1", b"0x" + b"f" * 40, b"1" * 5000]
    ),
)
texts = some.one_of(
    some.text(max_size=400),
    some.lists(
        some.sampled_from(
            [
                "01:00.0 VGA compatible controller [0300]: ",
                "NVIDIA Corporation AD104 [GeForce RTX 4070] ",
                "[10de:2786]",
                "[",
                "]",
                " (rev a1)\n",
                "10de  NVIDIA Corporation\n",
                "\t2786  AD104 [GeForce RTX 4070]\n",
                "gfx_target_version 110003\n",
                "location_id 256\n",
                "Model: \t\n",
                "Bus Location: \t 0000:01:00.0\n",
                "\0",
                "\n",
                "٣",
            ]
        ),
        max_size=12,
    ).map("".join),
)


@settings(max_examples=60, deadline=None)
@given(
    address=some.sampled_from(["0000:01:00.0", "10000:e1:00.0", "x", "::::", "0000:zz:00.0"]),
    files=some.dictionaries(some.sampled_from(FILES), contents, min_size=3),
    text=texts,
)
def test_any_files_of_a_linux_machine_give_adapters(
    address: str, files: dict[str, bytes], text: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        device = root / "sys/bus/pci/devices" / address
        device.mkdir(parents=True)
        for name, content in ({"class": b"0x030000"} | files).items():
            (device / name).write_bytes(content)
        node = root / "sys/class/kfd/kfd/topology/nodes/0"
        nvidia = root / "proc/driver/nvidia"
        for place in (node / "properties", nvidia / "gpus/0/information", nvidia / "version"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode(errors="surrogatepass"))
        read = linux.read(root)
        found = linux.describe(read, Nvml(), {}, HOST)
    assert len(found) >= len(read.adapters)
    assert all(adapter.memory_free is None or adapter.memory_free >= 0 for adapter in found)


@given(text=texts)
def test_any_output_of_lspci_and_any_pci_ids_give_names(text: str) -> None:
    assert len(parse_lspci(text)) <= text.count("\n") + 1
    assert {pci for pci, _ in parse_pci_ids(text, WANTED)} <= WANTED


@given(content=some.binary(max_size=200))
def test_any_pci_ids_file_gives_names(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "usr/share/misc/pci.ids"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        # QEMU's display is not worth a program.
        assert set(look_up_names({PciId(0x1234, 0x1111)}, (), Path(folder))) <= {
            PciId(0x1234, 0x1111)
        }


json_values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=9), inner),
    max_leaves=12,
)
reports = some.one_of(
    some.text(max_size=200),
    json_values.map(json.dumps),
    some.lists(
        some.dictionaries(
            some.sampled_from(
                [
                    "_name",
                    "sppci_model",
                    "spdisplays_vendor",
                    "spdisplays_vram",
                    "sppci_bus",
                    "spdisplays_device-id",
                    "spdisplays_metal",
                ]
            ),
            json_values | some.sampled_from(["AMD (0x1002)", "0x67ef", "4 GB", "99999999999 TB"]),
        )
        | json_values,
        max_size=4,
    ).map(lambda entries: json.dumps({"SPDisplaysDataType": entries})),
)


@given(text=reports)
def test_any_report_of_system_profiler_gives_adapters(text: str) -> None:
    assert isinstance(macos.describe(text, HOST, ""), tuple)


def test_a_deeply_nested_report_has_no_adapters() -> None:
    assert macos.describe("[" * 1_000_000, HOST, "") == ()


registry_values = some.dictionaries(
    some.sampled_from(
        [
            "DriverDesc",
            "DriverVersion",
            "ProviderName",
            "MatchingDeviceId",
            "HardwareInformation.qwMemorySize",
            "HardwareInformation.MemorySize",
        ]
    ),
    some.none()
    | some.integers()
    | some.binary(max_size=9)
    | some.text(max_size=30)
    | some.lists(some.text(max_size=5))
    | some.sampled_from([r"PCI\VEN_10DE&DEV_2786", r"PCI\VEN_ZZZZ&DEV_2786", "32.0.15.6094"]),
)


@given(entries=some.lists(registry_values, max_size=4), dxcore=some.booleans())
def test_any_values_of_the_registry_give_an_entry(
    entries: list[dict[str, Any]], dxcore: bool
) -> None:
    parsed = tuple(parse_entry(values) for values in entries)
    found = windows.describe(() if dxcore else None, parsed, Nvml(), {}, HOST)
    assert len(found) <= len(parsed)


@given(
    description=some.text(max_size=20),
    numbers=some.tuples(*[some.integers(0, (1 << 32) - 1)] * 2),
    sizes=some.tuples(*[some.integers(0, (1 << 64) - 1)] * 4),
    flags=some.tuples(some.booleans(), some.none() | some.booleans()),
)
def test_any_properties_of_dxcore_give_adapters(
    description: str,
    numbers: tuple[int, int],
    sizes: tuple[int, int, int, int],
    flags: tuple[bool, bool | None],
) -> None:
    adapter = DxcoreAdapter(b"", description, *numbers, "", sizes[0], sizes[1], *flags, *sizes[2:])
    (only,) = windows.describe((adapter,), (), Nvml(), {}, HOST)
    assert only.memory_free is None or 0 <= only.memory_free <= (only.memory_total or 0)


@given(answer=some.binary(max_size=400))
def test_any_answer_of_the_kernel_gives_memory_or_none(answer: bytes) -> None:
    for parse in (intel_memory.i915_memory, intel_memory.xe_memory):
        memory = parse(answer)
        assert memory is None or memory.free is None or 0 <= memory.free <= memory.total


@given(text=some.text(max_size=60))
def test_any_text_gives_a_number_or_none(text: str) -> None:
    for parse in (decimal, hexadecimal, size):
        number = parse(text)
        assert number is None or number >= 0
