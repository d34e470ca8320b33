"""Makes a release of installers: what is in them, their hashes, the page, and the list of updates.

    python -m installers.release FOLDER [--key FILE ...]

FOLDER has the installers of one version. Beside them it gets a list of parts for each system
(CycloneDX), SHA256SUMS, and RELEASE.md, the text of the release's page. With the private key of
updates it also gets the signed list that "Check for updates" reads.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from installers.errors import BuildError
from installers.inputs import Inputs, Target, read_inputs, sha256
from installers.licences import parts
from installers.sbom import sbom
from installers.tree import REPOSITORY, own_version

CHECKSUMS = "SHA256SUMS"
PAGE = "RELEASE.md"
_LIST_ENDING = ".cdx.json"
# Endings of installers: the system, and the words of the page. A longer ending stands before one
# that it ends with.
_KINDS: Mapping[str, tuple[Target, str]] = {
    "-linux-x86_64.tar.xz": (Target.LINUX, "Linux, a folder that runs from anywhere"),
    ".deb": (Target.LINUX, "Debian 12, Ubuntu 22.04 and newer"),
    ".AppImage": (Target.LINUX, "Linux, one file"),
    ".exe": (Target.WINDOWS, "Windows 10 and 11, installer"),
    ".zip": (Target.WINDOWS, "Windows 10 and 11, a folder that runs from anywhere"),
    ".dmg": (Target.MACOS, "macOS 14 and newer, Apple silicon"),
    "-macos-arm64.tar.xz": (Target.MACOS, "macOS, the archive for updates"),
}
# The archives of whole trees, which are what updates install.
_TREES = (".tar.xz", ".zip")
_PAGE = """\
# Safelight {version}

{notes}

## Downloads

| File | For | Size |
| --- | --- | --- |
{table}

Every file is listed with its SHA-256 in `{checksums}`; `sha256sum --check {checksums}` compares
them on Linux, `shasum -a 256 -c {checksums}` on a Mac, and `Get-FileHash FILE` shows one on
Windows. The files `*{list_ending}` list the parts of each system's installers with their licences.

The pictures, models and settings of an earlier version stay where they are.

- **Windows** shows "Windows protected your PC" for programs that it has seldom met: *More info*,
  then *Run anyway*. Smart App Control, where it is on, allows no exception.
- **macOS** opens an app that Apple has not notarised only after *Open Anyway* in System Settings,
  *Privacy & Security*.
"""


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        make_release(options.folder, own_version(), read_inputs(), options.keys)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def make_release(folder: Path, version: str, inputs: Inputs, keys: Sequence[Path] = ()) -> None:
    """Write everything that goes with the installers in a folder; raises BuildError, OSError.

    `keys` are files of private keys of updates; without one their list is not written.
    """
    installers = _installers(folder, version)
    for target in sorted({_kind(path)[0] for path in installers}):
        write_list(folder, version, target, inputs)
    notes = notes_of(version, (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"))
    (folder / PAGE).write_text(page(version, notes, installers), encoding="utf-8")
    if keys:
        _add_updates(folder, installers, keys, notes)
    (folder / CHECKSUMS).write_text(checksums(folder), encoding="utf-8")


def write_list(folder: Path, version: str, target: Target, inputs: Inputs) -> Path:
    """Write the list of everything in a system's installers, and return its path."""
    path = folder / f"safelight-{version}-{target}{_LIST_ENDING}"
    path.write_bytes(sbom(version, target, parts(inputs, target)))
    return path


def checksums(folder: Path) -> str:
    """Return the hashes of a folder's files in the form that `sha256sum --check` reads."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return "".join(f"{sha256(path)}  {path.name}\n" for path in files if path.name != CHECKSUMS)


def page(version: str, notes: str, installers: Sequence[Path]) -> str:
    """Return the text of a release's page, as Markdown."""
    table = "\n".join(
        f"| `{path.name}` | {_kind(path)[1]} | {path.stat().st_size / 1e6:.0f} MB |"
        for path in installers
    )
    return _PAGE.format(
        version=version, notes=notes, table=table, checksums=CHECKSUMS, list_ending=_LIST_ENDING
    )


def notes_of(version: str, changelog: str) -> str:
    """Return a version's section of the changelog; that of what is unreleased if it has none."""
    sections = changelog.split("\n## ")[1:]
    found = {section.split("\n", 1)[0].split()[0].strip("[]"): section for section in sections}
    section = found.get(version) or found.get("Unreleased", "\n")
    return section.partition("\n")[2].strip()


def _installers(folder: Path, version: str) -> list[Path]:
    """Return the installers in a folder; raises BuildError if there are none, or others."""
    found = sorted(path for path in folder.iterdir() if path.name.endswith(tuple(_KINDS)))
    others = [path.name for path in found if version not in path.name]
    if not found or others:
        wrong = ", ".join(others) or "nothing"
        raise BuildError(f"{folder} should have installers of {version}; it has {wrong}.")
    return found


def _kind(path: Path) -> tuple[Target, str]:
    return next(kind for ending, kind in _KINDS.items() if path.name.endswith(ending))


def _add_updates(
    folder: Path, installers: Sequence[Path], keys: Sequence[Path], notes: str
) -> None:
    """Write the signed list of updates, for those systems whose whole trees are here."""
    # Imported here, so that releases without a key need no library of signatures.
    from app.updates.errors import UpdateError
    from installers.update_manifest import add_release, read_key

    trees = [path for path in installers if path.name.endswith(_TREES)]
    try:
        add_release(folder, trees, [read_key(key) for key in keys], notes)
    except (UpdateError, ValueError) as error:
        raise BuildError(f"The list of updates cannot be written: {error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m installers.release", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the installers")
    parser.add_argument(
        "--key", type=Path, action="append", default=[], dest="keys", metavar="FILE",
        help="the file of a private key of updates; several may sign",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
