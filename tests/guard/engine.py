"""The guard's door: an engine process that is sent requests and saves pictures with their records.

Only what the app sees of the engine is used: its messages, and the PNG files.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.paths import starter_checkpoint
from engine.api.messages import (
    Command,
    Configure,
    EngineFatal,
    Event,
    Hello,
    ImageSaved,
    JobFailed,
    JobFinished,
    Message,
    Ready,
    RunJob,
    Shutdown,
)
from engine.api.request import GenerateRequest
from engine.api.wire import FrameParser, decode_event, encode
from tests.guard import checkpoints
from tests.guard.cases import Case
from tests.guard.inputs import write_inputs

Pixels = NDArray[np.uint8]

ENGINE = (sys.executable, "-I", "-m", "engine")

# What is not a setting: versions, what the device is called, why it was chosen, and hashes that
# are there only once they are ready.
_LEFT_OUT = ("safelight", "version", "device", "choice", "checkpoint_sha256", "refiner_sha256")
_KEYWORD = "safelight"


@dataclass(frozen=True)
class Made:
    """A picture, uint8 [height, width, 3], and the settings in its record by dotted names."""

    name: str
    pixels: Pixels
    settings: dict[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of its size and its pixels."""
        return hashlib.sha256(repr(self.pixels.shape).encode() + self.pixels.tobytes()).hexdigest()


class Guarded:
    """An engine in a folder of checkpoints, pictures to start from, and lists of words."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self._process = folder, process
        self._events = self._heard()
        cache, words = str(folder / "cache"), str(folder / "words")
        self._wait_for(Hello)
        self._send(Configure(cache=cache, wildcards=words))
        self._wait_for(Ready)

    def make(self, case: Case) -> list[Made]:
        """The pictures of a case, in their order."""
        out = self.folder / "out" / case.name.replace("/", "-")
        request = self._with_paths(case.request)
        self._send(RunJob(job=case.name, request=request, folder=str(out)))
        heard = self._wait_for(JobFinished)
        paths = [Path(event.path) for event in heard if isinstance(event, ImageSaved)]
        return [self._read(name, path) for name, path in zip(case.pictures, paths, strict=True)]

    def end(self) -> None:
        """End the process."""
        self._send(Shutdown())
        self._process.wait(60)

    def _send(self, command: Command) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(encode(command))
        self._process.stdin.flush()

    def _wait_for(self, kind: type[Message]) -> list[Event]:
        """Collect the engine's events up to one of that kind."""
        heard: list[Event] = []
        for event in self._events:
            assert not isinstance(event, JobFailed | EngineFatal), event.error
            heard.append(event)
            if isinstance(event, kind):
                return heard
        raise AssertionError("the engine ended")

    def _heard(self) -> Iterator[Event]:
        assert self._process.stdout is not None
        parser, descriptor = FrameParser(), self._process.stdout.fileno()
        while data := os.read(descriptor, 1 << 16):
            yield from map(decode_event, parser.feed(data))

    def _read(self, name: str, path: Path) -> Made:
        with Image.open(path) as image:
            record = json.loads(image.info[_KEYWORD])
            return Made(name, np.asarray(image.convert("RGB")), self._settings(record))

    def _with_paths(self, request: GenerateRequest) -> GenerateRequest:
        """With the files of the folder for their names; checkpoints are written where wanted."""
        named = {
            field: str(checkpoints.write(name, self.folder))
            for field, name in msgspec.structs.asdict(request.components).items()
            if name is not None
        }
        refiner = request.refiner
        if refiner is not None and refiner.checkpoint is not None:
            path = checkpoints.write(refiner.checkpoint, self.folder)
            refiner = msgspec.structs.replace(refiner, checkpoint=str(path))
        leading = {
            "controls": tuple(self._with_files(control) for control in request.controls),
            "image_prompts": tuple(
                self._with_files(image_prompt) for image_prompt in request.image_prompts
            ),
        }
        return msgspec.structs.replace(
            request,
            **leading,
            checkpoint=str(checkpoints.write(request.checkpoint or "", self.folder)),
            components=msgspec.structs.replace(request.components, **named),
            refiner=refiner,
            inputs=tuple(
                msgspec.structs.replace(image, path=str(self.folder / image.path))
                for image in request.inputs
            ),
        )

    def _with_files(self, layer: Any) -> Any:
        """A control layer or an image prompt, with the files of the folder for their names."""
        found: dict[str, str] = {}
        for field, name in msgspec.structs.asdict(layer).items():
            if field in {"image", "mask"} and name:
                found[field] = str(self.folder / name)
            if field in {"network", "adapter", "encoder"} and name:
                found[field] = str(checkpoints.write(name, self.folder))
        return msgspec.structs.replace(layer, **found)

    def _settings(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record without what is not a setting, its paths names again."""
        kept = {name: value for name, value in record.items() if name not in _LEFT_OUT}
        # Their words may be changed.
        kept["warnings"] = [warning["code"] for warning in kept["warnings"]]
        request = kept.pop("request")
        convention = request.pop("convention")
        flat = {f"request.{name}": value for name, value in request.items()}
        flat |= {f"convention.{name}": value for name, value in convention.items()}
        return self._named(flat | kept)

    def _named(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._named(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
            case list():
                return [self._named(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            case str() if value == str(starter_checkpoint()):
                return checkpoints.STARTER
            case str() if value.startswith(str(self.folder)):
                return Path(value).relative_to(self.folder).as_posix()
            case _:
                return value


@contextmanager
def guarded(folder: Path, command: Sequence[str] = ENGINE) -> Generator[Guarded]:
    """An engine for the guard's cases in an empty folder."""
    write_inputs(folder)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe) as process:
        try:
            engine = Guarded(folder, process)
            yield engine
            engine.end()
        finally:
            process.kill()
