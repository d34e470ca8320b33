"""The paths of the full-size checkpoints, which are made on first use."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import make_sdxl
from benchmarks.child import ROOT

# A file made under another number is made anew.
_FORM = 1


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The paths of the full-size checkpoints in a folder."""

    folder: Path

    @property
    def configuration(self) -> Path:
        """The diffusers folder: configurations, tokenizer, and the UNet's weights in float32."""
        return self.folder / "diffusers"

    @property
    def unet_file(self) -> Path:
        """The UNet's weights alone, under diffusers' names, in float32."""
        return self.configuration / "unet" / "diffusion_pytorch_model.safetensors"

    @property
    def f32(self) -> Path:
        """The whole checkpoint in float32, 4.3 GB."""
        return self.folder / "sd15-f32.safetensors"

    @property
    def f16(self) -> Path:
        """The whole checkpoint in float16, 2.1 GB."""
        return self.folder / "sd15-f16.safetensors"


def prepare_sdxl(folder: Path, say: Callable[[str], None]) -> Path:
    """Return a whole SDXL checkpoint in float16, 6.9 GB, made in a minute on first use."""
    path = folder / "sdxl-f16.safetensors"
    if not path.exists():
        say(f"Making {path} (6.9 GB, once)")
        folder.mkdir(parents=True, exist_ok=True)
        make_sdxl.make(path)
    return path


def prepare_control_net(folder: Path, say: Callable[[str], None]) -> Path:
    """Return a ControlNet of SD 1.5's sizes, 1.4 GB, made on first use in a process of its own."""
    path = folder / "control"
    if not (path / "config.json").exists():
        say(f"Making {path} (1.4 GB, once)")
        folder.mkdir(parents=True, exist_ok=True)
        made = [sys.executable, "-m", "benchmarks.make_control_net", str(path)]
        subprocess.run(made, cwd=ROOT, check=True)
    return path


def prepare_image_prompt(folder: Path, say: Callable[[str], None]) -> Path:
    """Return a folder with an IP-Adapter for SD 1.5 and its vision encoder, made on first use."""
    path = folder / "image_prompt"
    if not (path / "adapter.safetensors").exists():
        say(f"Making {path} (2.6 GB, once)")
        path.mkdir(parents=True, exist_ok=True)
        made = [sys.executable, "-m", "benchmarks.make_image_prompt", str(path)]
        subprocess.run(made, cwd=ROOT, check=True)
    return path


def prepare(folder: Path, say: Callable[[str], None]) -> Checkpoints:
    """Return the checkpoints in `folder`, 10 GB, made in about a minute on first use.

    They are made in a process of its own, so that torch and its memory are gone afterwards.
    """
    mark = folder / "complete.json"
    if not mark.exists() or json.loads(mark.read_text())["form"] != _FORM:
        say(f"Making checkpoints in {folder} (10 GB, once)")
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.make_checkpoints", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True)
        mark.write_text(json.dumps({"form": _FORM}) + "\n")
    return Checkpoints(folder)


def prepare_lora(folder: Path, family: str, say: Callable[[str], None]) -> Path:
    """Return a LoRA of rank 32 for "sd15" or "sdxl", made in a process of its own on first use."""
    path = folder / f"{family}-lora.safetensors"
    if not path.exists():
        say(f"Making {path} (once)")
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.make_loras", str(path), family]
        subprocess.run(command, cwd=ROOT, check=True)
    return path


def warm(path: Path) -> None:
    """Read a file once, so that it is in the page cache."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
