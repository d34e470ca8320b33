"""Renews `inputs.toml`: `python -m installers.lock`.

Wheels are those that constraints.txt chooses for Python 3.13, which uv resolves for each system;
addresses, sizes and hashes come from the package index. Each system adds files of its own.
"""

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from installers.index import PLATFORMS, ROOT, resolved, wheel
from installers.inputs import INPUTS, File, Inputs, Target
from installers.trimming import read_trim

_HEADER = "# Every file that the installers are made of. Made by `make installers-lock`.\n"
_PLATFORMS = {Target(platform.system): platform for platform in PLATFORMS}


def main() -> None:
    """Write `inputs.toml` anew."""
    from installers.systems import SYSTEMS

    wheels = _merged(file for target in Target for file in _wheels(target))
    files = [file for system in SYSTEMS.values() for file in system.newest_files()]
    inputs = Inputs(tuple(wheels), tuple(files))
    INPUTS.write_text(_HEADER + toml(inputs), encoding="utf-8")


def toml(inputs: Inputs) -> str:
    """Return inputs as TOML with a table for each file, so that changes are easy to read."""
    tables: list[str] = []
    for section in ("wheels", "files"):
        for file in getattr(inputs, section):
            values = msgspec.to_builtins(file)
            lines = (f"{key} = {json.dumps(value)}" for key, value in values.items())
            tables.append("\n".join(("", f"[[{section}]]", *lines)))
    return "\n".join(tables) + "\n"


def _wheels(target: Target) -> Iterable[File]:
    """Find the wheels of all distributions that a system's tree has. Raises IndexLacks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = "\n".join(project["project"]["dependencies"])
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    platform, left_out = _PLATFORMS[target], read_trim().left_out
    for name, version in resolved(wanted, pins, platform).items():
        if name not in left_out:
            found = wheel(name, version, platform)
            yield File(name, version, found.url, found.size, found.sha256, (target,))


def _merged(wheels: Iterable[File]) -> list[File]:
    """Return each wheel once, with all the systems that take it, sorted by name."""
    targets: dict[str, list[Target]] = defaultdict(list)
    first: dict[str, File] = {}
    for file in wheels:
        first.setdefault(file.url, file)
        targets[file.url].extend(file.targets)
    merged = (
        msgspec.structs.replace(file, targets=tuple(targets[url])) for url, file in first.items()
    )
    return sorted(merged, key=lambda file: (file.name, file.url))


if __name__ == "__main__":
    main()
