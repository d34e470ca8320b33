"""A Vulkan driver on the processor for the tests of WebGPU, where `make swiftshader` put one."""

import ctypes
import os
from pathlib import Path

from backends import hardware

FOLDER = Path(__file__).parents[1] / "build" / "swiftshader"
_LOADER, _DRIVER = FOLDER / "libvulkan.so.1", FOLDER / "vk_swiftshader_icd.json"


def is_offered() -> bool:
    """Return True if WebGPU uses the software driver, in this process and in new ones."""
    return os.environ.get("VK_ICD_FILENAMES") == str(_DRIVER)


def offer() -> None:
    """Offer it where it is and there is no graphics processor, which it would hide."""
    if not _DRIVER.exists() or any(not a.unusable for a in hardware.list_adapters()):
        return
    os.environ["VK_ICD_FILENAMES"] = str(_DRIVER)
    os.environ["ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"] = "1"
    # For processes to come; in this one a library that is loaded is found by its name.
    paths = [str(FOLDER), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(paths)
    ctypes.CDLL(str(_LOADER), ctypes.RTLD_GLOBAL)
