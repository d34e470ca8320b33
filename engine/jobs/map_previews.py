"""Maps of pictures as PNG files in the cache, to be looked at before a picture is made."""

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from backends.base import Cancellation
from engine.api.preprocessors import MapTarget
from engine.api.saving import PictureFormat
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cache_folder import recency
from engine.checkpoints.index import Stamp
from engine.durable import replace_file
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.jobs.services import JobServices
from engine.output.encoding import encode_picture
from engine.pipeline.canvas.growth import Size, grown_around
from engine.pipeline.canvas.pictures import picture_size, read_picture
from engine.preprocessors.loading import files_of
from engine.preprocessors.map_maker import MapOrder

# Increased whenever a preprocessor's map of the same picture changes.
_VERSION = 1
# The most files and bytes that are kept, the latest ones.
_MOST_FILES, _MOST_BYTES = 256, 256 << 20


class MapFile(msgspec.Struct, frozen=True):
    """A PNG file of a map, and its size in pixels."""

    path: Path
    width: int
    height: int


class MapPreviews:
    """Makes maps into a folder that may be deleted; the same map is made once."""

    def __init__(self, folder: Path, services: JobServices) -> None:
        self._folder, self._services = folder, services

    def make(self, image: Path, order: MapOrder, cancel: Cancellation) -> MapFile:
        """Return the file of a picture's map.

        Raises EngineError: INPUT_IMAGE_UNREADABLE, CACHE_NOT_WRITABLE, and as `MapMaker.make`.
        """
        folders = self._services.model_folders
        weights = files_of(order.preprocessor, order.weights, folders)
        path = self._folder / f"{_name(image, order, weights)}.png"
        if path.is_file():
            with suppress(OSError, EngineError):
                os.utime(path)
                return MapFile(path, *picture_size(path))
        with host_memory_errors():
            picture = np.asarray(read_picture(image))
            if cancel.is_set():
                raise Cancelled
            seen = msgspec.structs.replace(
                order, target=_covered(order.target, picture.shape[1::-1])
            )
            made = self._services.maps.make(picture, seen, folders, cancel)
            self._write(path, encode_picture(made, (), PictureFormat.PNG, 100))
        return MapFile(path, made.shape[1], made.shape[0])

    def _write(self, path: Path, content: bytes) -> None:
        try:
            replace_file(path, content)
            _keep_latest(self._folder)
        except OSError as error:
            raise EngineError(
                ErrorCode.CACHE_NOT_WRITABLE,
                sentence("The map cannot be written to {folder}.", folder=self._folder),
                sentence("Free some space, or choose another folder for the cache."),
                str(error),
            ) from error


def _covered(target: MapTarget | None, picture: Size) -> MapTarget | None:
    """Return what a map is for, on the part of a canvas that its picture of this size covers."""
    if target is None or not any(target.margins):
        return target
    width, height = grown_around(picture, target.margins).within((target.width, target.height))
    return MapTarget(width, height, target.whole)


def _name(image: Path, order: MapOrder, weights: tuple[Path, ...]) -> str:
    """Return a name that is another for other pictures, weights, options and targets."""
    made_of = (
        _VERSION,
        [(os.fsencode(path), _stamp(path)) for path in (image, *weights)],
        order.options,
        order.target,
    )
    return hashlib.sha256(msgspec.json.encode(made_of)).hexdigest()[:32]


def _stamp(path: Path) -> Stamp | None:
    with suppress(OSError, ValueError):
        return Stamp.of(path.stat())
    return None


def _keep_latest(folder: Path) -> None:
    """Delete the files that were not asked for longest, beyond the number and bytes to keep."""
    files, now = [(path, path.stat()) for path in folder.glob("*.png")], time.time()
    files.sort(key=lambda entry: recency(entry[1].st_mtime, now), reverse=True)
    room = _MOST_BYTES
    for number, (path, facts) in enumerate(files):
        room -= facts.st_size
        if number and (number >= _MOST_FILES or room < 0):
            path.unlink(missing_ok=True)
