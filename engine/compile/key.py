"""The digest of everything a compiled network depends on: one other part, another digest."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

import backends
from backends.base import Compilation, Device, Graph, ShapeProfile

# Raised whenever what is kept, or how it is checked, changes.
FORMAT = 1


def artifact_key(
    graph: Graph, device: Device, runtime: str, compilation: Compilation, weights: str | None
) -> str:
    """The digest of all that an artifact is made of but the sizes it is for.

    `runtime` is the backend's fingerprint of the device. `weights` is the digest of the weights
    where the artifact has them in it, else None: then it serves every checkpoint of that graph.
    """
    parts = {
        "format": FORMAT,
        "code": _own_code(),
        "graph": hashlib.sha256(graph.model).hexdigest(),
        "precision": graph.precision.value,
        "backend": device.backend,
        "device": [device.id, device.name],
        "runtime": runtime,
        "shapes": compilation.shapes.value,
        "weights": weights,
    }
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def profile_digest(profile: ShapeProfile) -> str:
    """Tells the sizes apart that artifacts serve for, whichever of them they serve best."""
    ranges = {name: (d.minimum, d.maximum) for name, d in profile.dimensions.items()}
    return hashlib.sha256(msgspec.json.encode(ranges, order="sorted")).hexdigest()


@cache
def _own_code() -> str:
    """The digest of the backends' sources: other options or fixes make another artifact."""
    return code_digest(Path(backends.__file__).parent)


def code_digest(folder: Path) -> str:
    """The digest of the sources in a folder; where there are none, of this version."""
    digest = hashlib.sha256(version("safelight").encode())
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()
