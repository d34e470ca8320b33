"""Freezes maps and masks that sd-webui-controlnet and ComfyUI bring to a picture's size.

    python -m tests.pipeline.freeze_fitting CONTROLNET COMFYUI

in the oracle environment on x86, where CONTROLNET is a checkout of Mikubill/sd-webui-controlnet
(56cec5b2958edf3b1807b7e7b2b1b5186dbd2f81) and COMFYUI one of Comfy-Org/ComfyUI
(a125cd84b054a57729b5eecab930ca9408719832). Their own
functions run: `Script.detectmap_proc`, `ControlParams.apply_effective_region_mask` and
`common_upscale`.

fitting.npz holds by "a1111/" and the name of a case of `fitting_cases` the map, by "a1111/inpaint/"
picture and mask in four channels in float16, by "comfyui/" and the name of a map and a size the
cropped map, by "area/" and a size a mask as residuals are multiplied by it.
"""
# pyright: basic, reportMissingImports=false
# OpenCV and torch are absent from the environment that is type-checked.

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import torch

from tests.pipeline.fitting_cases import (
    AREA,
    AREA_SIZES,
    CASES,
    MAPS,
    MODES,
    PAINTED,
    PAINTED_MASK,
    PAINTED_SIZES,
    SIZES,
)

FROZEN = Path(__file__).parent / "frozen" / "fitting.npz"
RESIZE_MODES = SimpleNamespace(RESIZE="stretch", OUTER_FIT="fill", INNER_FIT="crop")


def main(extension: Path, comfyui: Path) -> None:
    """Write the file."""
    names: dict[str, Any] = {"np": np, "cv2": cv2, "torch": torch}
    run("annotator/util.py", ["HWC3"], extension, names)
    run("scripts/utils.py", ["get_unique_axis0"], extension, names)
    exec((extension / "scripts/lvminthin.py").read_text(), names)
    names |= {"ResizeMode": RESIZE_MODES, "get_pytorch_control": lambda made: made}
    run("scripts/controlnet.py", ["detectmap_proc"], extension, names)
    run("scripts/hook.py", ["apply_effective_region_mask"], extension, names)
    run("comfy/utils.py", ["common_upscale"], comfyui, names)
    arrays: dict[str, Any] = {}
    for name, (map_name, mode, (width, height)) in CASES.items():
        made, _shown = names["detectmap_proc"](MAPS[map_name], "canny", mode.value, height, width)
        arrays[f"a1111/{name}"] = made
    painted = np.concatenate([PAINTED, PAINTED_MASK[:, :, None]], axis=2)
    for mode in MODES:
        for width, height in PAINTED_SIZES:
            made, _ = names["detectmap_proc"](painted, "inpaint", mode.value, height, width)
            arrays[f"a1111/inpaint/{mode}/{width}x{height}"] = made.astype(np.float16)
    for name, pixels in MAPS.items():
        for width, height in SIZES:
            given = torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]
            made = names["common_upscale"](given, width, height, "nearest-exact", "center")
            arrays[f"comfyui/{name}/{width}x{height}"] = to_pixels(made)
    area = torch.from_numpy(AREA.astype(np.float32) / 255)[None, None]
    for width, height in AREA_SIZES:
        param = SimpleNamespace(effective_region_mask=area)
        ones = torch.ones(1, 1, height, width)
        made = names["apply_effective_region_mask"](param, ones)
        arrays[f"area/{width}x{height}"] = made[0, 0].numpy()
    np.savez_compressed(FROZEN, **arrays)


def run(module: str, functions: list[str], checkout: Path, names: dict[str, Any]) -> None:
    """Define functions of a module, methods without their decorators, among the names."""
    for node in ast.walk(ast.parse((checkout / module).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            node.decorator_list = []
            exec(ast.unparse(node), names)


def to_pixels(made: Any) -> Any:
    return made[0].permute(1, 2, 0).numpy().astype(np.uint8)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
