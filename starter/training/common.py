"""Shared parts of the training stages: drawn pictures, a time budget, tensors."""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import json
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from starter.scenes import SIZE, Scene, draw, random_scene

RUN = Path(__file__).resolve().parents[1] / "run"
MODEL = Path(__file__).resolve().parents[1] / "safelight-starter"
THREADS = 2


@dataclass(slots=True)
class Clock:
    """A time budget: learning rates follow the share of the time spent, not a step count."""

    seconds: float
    start: float = 0.0

    def __post_init__(self) -> None:
        self.start = time.monotonic()

    @property
    def spent(self) -> float:
        return time.monotonic() - self.start

    @property
    def done(self) -> float:
        """The spent share of the budget: 0 at the start, 1 at its end, then above 1."""
        return self.spent / self.seconds


@dataclass(frozen=True, slots=True)
class Pictures:
    """Drawn postcards: `pixels` uint8 [n, 256, 256, 3] and the scene of each."""

    pixels: np.ndarray
    scenes: list[Scene]


def draw_chunk(job: tuple[int, int]) -> Pictures:
    """Draw the training postcards of one job: a seed and a count."""
    seed, count = job
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(count)]
    return Pictures(np.stack([np.asarray(draw(scene, rng)) for scene in scenes]), scenes)


def draw_pictures(count: int, seed: int, chunk: int = 64) -> Iterator[Pictures]:
    """Yield `count` training postcards in chunks, drawn by `THREADS` processes."""
    jobs = [(1_000_003 * seed + i, min(chunk, count - i)) for i in range(0, count, chunk)]
    with get_context("spawn").Pool(THREADS) as pool:
        yield from pool.imap(draw_chunk, jobs)


def to_tensor(pixels: np.ndarray) -> torch.Tensor:
    """Convert uint8 [n, h, w, 3] to float [n, 3, h, w] in -1..1, channels last in memory."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 127.5 - 1


def save_scenes(scenes: list[Scene], path: Path) -> None:
    path.write_text(json.dumps([asdict(scene) for scene in scenes]))


def load_scenes(path: Path) -> list[Scene]:
    return [Scene(**fields) for fields in json.loads(path.read_text())]


def set_up(seed: int, threads: int = THREADS) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    RUN.mkdir(exist_ok=True)


assert SIZE % 8 == 0, "the VAE divides by eight"
