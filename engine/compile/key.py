"""The digests of everything that a compiled network, or a result of one, depends on."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

import backends
from backends.base import Compilation, Device, Graph, ShapeProfile
from engine import lora as engine_lora
from engine import weights as engine_weights

# The version of the artifacts' format; increase it when their content or their checks change.
FORMAT = 1


def artifact_key(
    graph: Graph, device: Device, runtime: str, compilation: Compilation, weights: str | None
) -> str:
    """Return the digest of all sources of an artifact except its sizes.

    `runtime` is the backend's fingerprint of the device. `weights` is the digest of the weights if
    the artifact carries them, else None: then it serves every checkpoint with that graph. With
    `compilation.refits` it is that of the weights without patches: the key is the same for all
    LoRAs.
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
        "refits": compilation.refits,
        "weights": weights,
    }
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def maker_digest(identity: str, runtime: str) -> str:
    """Return the digest of all that results depend on but inputs, also beyond this process.

    `identity` is that of the network's session (`PreparedNetwork.identity`), `runtime` the
    backend's fingerprint of the device.
    """
    parts = [FORMAT, _own_code(), code_of_weights(), identity, runtime]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def profile_digest(profile: ShapeProfile) -> str:
    """Return the digest of a profile's ranges of sizes, without their optimum sizes."""
    ranges = {name: (d.minimum, d.maximum) for name, d in profile.dimensions.items()}
    return hashlib.sha256(msgspec.json.encode(ranges, order="sorted")).hexdigest()


@cache
def _own_code() -> str:
    """Return the digest of the backends' sources: a change in them makes artifacts stale."""
    return code_digest(Path(backends.__file__).parent)


@cache
def code_of_weights() -> str:
    """Return the digest of the sources by which weights are converted, and changed by LoRAs."""
    files = engine_weights.__file__, engine_lora.__file__
    digests = (code_digest(Path(file).parent) for file in files)
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def code_digest(folder: Path) -> str:
    """Return the digest of Safelight's version and of the Python sources in a folder, if any."""
    digest = hashlib.sha256(version("safelight").encode())
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()
