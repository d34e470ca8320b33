"""Names from pci.ids and lspci."""

import pytest

from backends.hardware.adapter import PciId
from backends.hardware.names import marketing_name, parse_lspci, parse_pci_ids

# From pci.ids as distributed.
_IDS = """\
# Syntax:
# vendor  vendor_name
#	device  device_name				<-- single tab
10de  NVIDIA Corporation
	2684  AD102 [GeForce RTX 4090]
		10de 165b  GeForce RTX 4090
	2786  AD104 [GeForce RTX 4070]
8086  Intel Corporation
	0102  2nd Generation Core Processor Family Integrated Graphics Controller
C 03  Display controller
	00  VGA compatible controller
"""


def test_pci_ids_has_the_names_of_the_wanted_devices() -> None:
    wanted = {PciId(0x10DE, 0x2786), PciId(0x8086, 0x0102), PciId(0x10DE, 0x165B)}
    assert dict(parse_pci_ids(_IDS, wanted)) == {
        PciId(0x10DE, 0x2786): "GeForce RTX 4070",
        PciId(
            0x8086, 0x0102
        ): "2nd Generation Core Processor Family Integrated Graphics Controller",
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GA104 [GeForce RTX 3070]", "GeForce RTX 3070"),
        ("Rembrandt", "Rembrandt"),
        ("RV280 [Radeon 9200 PRO] (Secondary)", "Radeon 9200 PRO"),
    ],
)
def test_a_device_is_called_by_its_sales_name(text: str, name: str) -> None:
    assert marketing_name(text) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD107 "
            "[GeForce RTX 4060] [10de:2882] (rev a1)",
            "GeForce RTX 4060",
        ),
        (
            "04:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] "
            "Raphael [1002:164e] (rev d8)",
            "Raphael",
        ),
        ("00:02.0 VGA compatible controller [0300]: Intel Corporation Device [8086:3e9b]", ""),
        (
            "00:02.0 VGA compatible controller [0300]: Intel Corporation HD Graphics [8086:0102]",
            "HD Graphics",
        ),
    ],
)
def test_lspci_names_without_the_vendor(line: str, name: str) -> None:
    (only,) = parse_lspci(line)
    assert only.name == name


def test_lspci_lists_addresses_and_devices() -> None:
    text = "junk\n8756:00:00.0 3D controller [0302]: Microsoft Corporation Device [1414:008e]\n\tx"
    (only,) = parse_lspci(text)
    assert (only.address, only.kind, only.pci) == ("8756:00:00.0", 0x0302, PciId(0x1414, 0x008E))
