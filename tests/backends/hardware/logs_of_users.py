"""Real logs of users' machines, and what turns them into what a reader would have read.

A log is a file of `logs/`: two lines with its address and date, then the excerpt as it was posted.
Detection reads sysfs, not lspci; so `lspci -nn` and inxi become a tree of files under a temporary
root. The texts of dxdiag, WMI and DXGI tools become the structures that DXCore and the registry
fill; system_profiler's text becomes the JSON it would print.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from backends.hardware.dxcore import DxcoreAdapter
from backends.hardware.nvml import Nvml, NvmlDevice
from backends.hardware.registry import RegistryEntry, Value, parse_entry

LOGS = Path(__file__).parent / "logs"
_ADDRESS = r"(?:(?P<domain>[0-9a-f]{4}):)?(?P<slot>[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_FUNCTION = re.compile(
    _ADDRESS + r" [^\[]*\[(?P<kind>[0-9a-f]{4})\]: .*"
    r"\[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\](?: \(.*\))?$"
)
_WSL = re.compile(_ADDRESS + r" 3D controller: Microsoft Corporation Device (?P<device>\w{4})")
_FILE = re.compile(r"==> (?:card\d/device|(kfd)/topology/nodes/(\d+))/(\w+)(?: \(.*\))? <==")
_PCI_PATH = re.compile(r"PCI\\VEN_\w{4}&DEV_\w{4}[^\s]*")


class Log(NamedTuple):
    """An excerpt, and where and when it was published."""

    address: str
    date: str
    text: str


def load(name: str) -> Log:
    """The log `logs/NAME.txt`."""
    address, date, text = (LOGS / f"{name}.txt").read_text("utf-8").split("\n", 2)
    return Log(address.removeprefix("# "), date.removeprefix("# "), text)


def add_function(
    root: Path, address: str, vendor: str, device: str, kind: str, driver: str = ""
) -> Path:
    """A PCI function's folder as sysfs has it."""
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    for name, text in (("vendor", vendor), ("device", device), ("class", kind)):
        (folder / name).write_text(f"0x{text}\n")
    if driver:
        (folder / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
    return folder


def lspci_tree(text: str, root: Path) -> None:
    """From `lspci -nn`, with drivers where -k was given."""
    last: Path | None = None
    for line in text.split("\n"):
        if match := _FUNCTION.match(line):
            address = f"{match['domain'] or '0000'}:{match['slot']}"
            kind = match["kind"] + "00"
            last = add_function(root, address, match["vendor"], match["device"], kind)
        elif match := _WSL.match(line):
            address = f"{match['domain']}:{match['slot']}"
            add_function(root, address, "1414", match["device"], "030200")
        elif last and "Kernel driver in use: " in line:
            driver = line.partition("Kernel driver in use: ")[2].strip()
            (last / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")


def inxi_tree(text: str, root: Path) -> None:
    """From the Graphics part of inxi: a version "v: kernel" means that the module has none."""
    for part in text.split("Device-")[1:]:
        facts = dict(re.findall(r"(driver|v|bus-ID|chip-ID|class-ID): (\S+)", part))
        vendor, device = facts["chip-ID"].split(":")
        address, driver = f"0000:{facts['bus-ID']}", facts["driver"]
        add_function(root, address, vendor, device, facts["class-ID"] + "00", driver)
        if facts["v"] != "kernel":
            (root / "sys/module" / driver).mkdir(parents=True)
            (root / "sys/module" / driver / "version").write_text(facts["v"] + "\n")


def sysfs_tree(text: str, root: Path) -> None:
    """From files of /sys, printed one after another as `head` does."""
    parts = _FILE.split(text)[1:]
    files = list(zip(*[iter(parts)] * 4, strict=True))
    uevent = dict(
        re.findall(r"(\w+)=(.*)", next(body for *_, name, body in files if name == "uevent"))
    )
    device = root / "sys/bus/pci/devices" / uevent["PCI_SLOT_NAME"]
    device.mkdir(parents=True)
    (device / "driver").symlink_to(f"../../../bus/pci/drivers/{uevent['DRIVER']}")
    for kfd, node, name, body in files:
        folder = root / "sys/class/kfd/kfd/topology/nodes" / node if kfd else device
        folder.mkdir(parents=True, exist_ok=True)
        if name == "gpu_metrics":
            (folder / name).write_bytes(bytes.fromhex(body.strip()))
        else:
            (folder / name).write_text(body.strip("\n") + "\n")


def psutil_tree(text: str, root: Path) -> None:
    """From `provider-services tools psutil list gpu`."""
    facts = dict(re.findall(r'"(address|driver)": "([^"]+)"', text))
    vendor, product = re.findall(r'"id": "(\w{4})"', text)
    add_function(root, facts["address"], vendor, product, "030000", facts["driver"])


def nvidia_proc_tree(text: str, root: Path) -> None:
    """From `cat /proc/driver/nvidia/gpus/.../information`."""
    match = re.search(r"gpus/(\S+)/information\n(.*)", text, re.DOTALL)
    assert match
    folder = root / "proc/driver/nvidia/gpus" / match[1].replace("\\", "")
    folder.mkdir(parents=True)
    (folder / "information").write_text(match[2])


def nvidia_smi(text: str) -> Nvml:
    """From nvidia-smi's CSV, what its library would have said; it does not print what is free."""
    rows = [line.split(", ") for line in text.split("\n") if line.startswith("NVIDIA ")]
    return Nvml(
        rows[0][1],
        tuple(
            NvmlDevice(
                name=name,
                address=bus.lower()[4:],
                pci=int(number, 16),
                memory_total=int(memory.removesuffix(" MiB")) << 20,
                memory_free=None,
                capability=None,
            )
            for name, _, memory, bus, number in rows
        ),
    )


def dxgi(text: str) -> tuple[DxcoreAdapter, ...]:
    """From dxgi-info. It does not tell drivers, nor what is integrated."""
    found: list[DxcoreAdapter] = []
    for number, part in enumerate(text.split("====== ADAPTER =====")[1:]):
        facts = dict(re.findall(r"^(\S.*?) *: (.*)$", part, re.MULTILINE))
        found.append(
            DxcoreAdapter(
                luid=bytes([number]),
                description=facts["Device Name"],
                vendor=int(facts["Device Vendor ID"], 16),
                device=int(facts["Device Device ID"], 16),
                driver_version="",
                dedicated=int(facts["Device Video Mem"].removesuffix(" MiB")) << 20,
                shared=int(facts["Share Sys Mem"].removesuffix(" MiB")) << 20,
                hardware=True,
                integrated=None,
            )
        )
    return tuple(found)


def dxdiag(text: str) -> tuple[RegistryEntry, ...]:
    """From dxdiag's text, an entry of the registry each."""
    entries: list[RegistryEntry] = []
    for part in re.split(r"\n +Card name: ", text)[1:]:
        facts = dict(re.findall(r"^ *([\w ]+): (.*)$", "Card name: " + part, re.MULTILINE))
        memory = int(facts["Dedicated Memory"].removesuffix(" MB")) << 20
        values: dict[str, Value] = {
            "DriverDesc": facts["Card name"],
            "ProviderName": facts["Manufacturer"],
            "MatchingDeviceId": facts["Device Key"],
            "HardwareInformation.qwMemorySize": memory,
        }
        entries.append(parse_entry(values))
    return tuple(entries)


def wmi(text: str) -> tuple[RegistryEntry, ...]:
    """From a table of Win32_VideoController whose first column is as wide as its heading's line."""
    lines = text.split("\n")
    width = lines[0].index("AdapterDACType")
    return tuple(
        parse_entry({"DriverDesc": line[:width].strip(), "MatchingDeviceId": match[0]})
        for line in lines
        if (match := _PCI_PATH.search(line))
    )


def report(text: str) -> tuple[RegistryEntry, ...]:
    """From a sentence or two of a person's own; the right size is what the registry would say."""
    name = re.search(r'"(.*?)"', text)
    size = re.search(r"correct amount: (\d+)gb", text)
    driver = re.search(r"Driver: (\S+) from (\w+)", text)
    path = _PCI_PATH.search(text)
    assert name
    assert size
    assert driver
    assert path
    values: dict[str, Value] = {
        "DriverDesc": name[1],
        "DriverVersion": driver[1],
        "ProviderName": driver[2],
        "MatchingDeviceId": path[0],
        "HardwareInformation.qwMemorySize": int(size[1]) << 30,
    }
    return (parse_entry(values),)


def plist(text: str) -> str:
    """The JSON of system_profiler's XML, whose keys are the same."""
    pairs = re.findall(r"<key>(.*)</key>\s*<string>(.*)</string>", text)
    return json.dumps({"SPDisplaysDataType": [dict(pairs)]})


def system_profiler(text: str) -> str:
    """The JSON of what system_profiler printed as text. Keys: as in the JSON logs."""
    keys = {
        "Chipset Model": "sppci_model",
        "VRAM (Total)": "spdisplays_vram",
        "VRAM (Dynamic, Max)": "_spdisplays_vram",
        "Vendor": "spdisplays_vendor",
        "Device ID": "spdisplays_device-id",
    }
    facts = dict(re.findall(r"^ {6}(\S.*?): (.*)$", text, re.MULTILINE))
    entry = {key: facts[name] for name, key in keys.items() if name in facts}
    entry["sppci_bus"] = (
        "spdisplays_builtin" if facts["Bus"] == "Built-In" else "spdisplays_pcie_device"
    )
    if facts.get("Metal", "").startswith("Supported"):
        entry["spdisplays_metal"] = "spdisplays_supported"
    return json.dumps({"SPDisplaysDataType": [entry]})
