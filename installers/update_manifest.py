"""The signed list of updates: makes keys, and adds a release's archives to the list.

    python -m installers.update_manifest key FILE
    python -m installers.update_manifest add --key FILE [--notes FILE] FOLDER ARCHIVE ...

FOLDER is what is put on a static host as it is, or on a stick: archives, and the list beside them.
The private key never leaves its file, which does not belong into a repository.
"""

import argparse
import base64
import hashlib
import json
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from nacl.signing import SigningKey

from app.updates.errors import UpdateError
from app.updates.manifest import FORMAT, Archive, Release, UpdateList, read_list
from app.updates.places import list_name
from app.updates.signatures import PURPOSE, verified_content
from app.updates.updates import CHANNEL
from app.versions.names import order_of
from engine.durable import replace_file
from installers.inputs import Target

# A list is signed anew at least this often, so that nobody can hold a person at an old one for
# longer.
_VALID = timedelta(days=180)
_SYSTEMS = {
    Target.LINUX: ("linux", "x86_64"),
    Target.WINDOWS: ("win32", "x86_64"),
    Target.MACOS: ("darwin", "arm64"),
}


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        if options.action == "key":
            print(make_key(options.file))
        else:
            notes = options.notes.read_text(encoding="utf-8") if options.notes else ""
            keys = [read_key(path) for path in options.key]
            print(add_release(options.folder, options.archives, keys, notes, options.minimum))
    except (OSError, ValueError, UpdateError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def make_key(path: Path) -> str:
    """Write a new private key to a file that only its owner can read; return the public key.

    Raises FileExistsError if the file is there.
    """
    key = SigningKey.generate()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(bytes(key)) + b"\n")
    return public_key(key)


def read_key(path: Path) -> SigningKey:
    """Return the private key in a file. Raises OSError, and ValueError if it is none."""
    return SigningKey(base64.b64decode(path.read_bytes().strip(), validate=True))


def public_key(key: SigningKey) -> str:
    """Return the public half of a key, as `app.updates.signatures` has it."""
    return base64.b64encode(bytes(key.verify_key)).decode()


def signed(content: bytes, *keys: SigningKey) -> bytes:
    """Return the content with signatures before it, one for each key."""
    lines = [
        f"safelight-signature {public_key(key)} "
        + base64.b64encode(key.sign(PURPOSE + content).signature).decode()
        for key in keys
    ]
    return "\n".join(lines).encode() + b"\n\n" + content


def add_release(
    folder: Path,
    archives: Sequence[Path],
    keys: Sequence[SigningKey],
    notes: str = "",
    minimum: str = "",
) -> Path:
    """Copy archives of one version into a folder and add them to its list; return the list's path.

    Without archives the list is only signed anew. `minimum` is the oldest version that can go to
    it; by default any. Raises ValueError, UpdateError for a list by none of the keys, OSError.
    """
    path = folder / list_name(CHANNEL)
    before = _list_before(path, keys)
    today = datetime.now(UTC).date()
    releases = before.releases if before else ()
    if archives:
        packed = [describe(archive) for archive in archives]
        versions = {version for version, _ in packed}
        if len(versions) != 1:
            raise ValueError(f"the archives are of several versions: {', '.join(sorted(versions))}")
        release = Release(
            version=versions.pop(),
            date=today.isoformat(),
            minimum=minimum or "0.1.0",
            notes=notes,
            archives=tuple(archive for _, archive in packed),
        )
        others = (other for other in releases if other.version != release.version)
        releases = (release, *others)
    folder.mkdir(parents=True, exist_ok=True)
    for archive in archives:
        if archive.parent.resolve() != folder.resolve():
            shutil.copyfile(archive, folder / archive.name)
    fresh = UpdateList(
        format=FORMAT,
        channel=CHANNEL,
        sequence=before.sequence + 1 if before else 1,
        published=today.isoformat(),
        expires=(today + _VALID).isoformat(),
        releases=tuple(sorted(releases, key=lambda r: order_of(r.version), reverse=True)),
    )
    replace_file(path, signed(msgspec.json.format(msgspec.json.encode(fresh)), *keys), durable=True)
    return path


def describe(archive: Path) -> tuple[str, Archive]:
    """Return the version of a packed tree, and its line in the list. Raises ValueError, OSError."""
    facts, disk_bytes = _facts(archive)
    system, machine = _SYSTEMS[Target(facts["target"])]
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return facts["version"], Archive(
        system=system,
        machine=machine,
        name=archive.name,
        size=archive.stat().st_size,
        disk_bytes=disk_bytes,
        sha256=digest,
        urls=(archive.name,),
    )


def _facts(archive: Path) -> tuple[dict[str, Any], int]:
    """Return the version.json of a packed tree, and the bytes of all of its files."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            sizes = {entry.filename: entry.file_size for entry in packed.infolist()}
            return json.loads(packed.read(_name_of_facts(sizes, archive))), sum(sizes.values())
    with tarfile.open(archive) as packed:
        sizes = {entry.name: entry.size for entry in packed}
        content = packed.extractfile(_name_of_facts(sizes, archive))
        assert content is not None
        return json.load(content), sum(sizes.values())


def _name_of_facts(names: "dict[str, int]", archive: Path) -> str:
    """Return the path of version.json: at the top, or in the resources of a macOS bundle."""
    for name in names:
        if name.split("/", 1)[-1] in ("version.json", "Contents/Resources/version.json"):
            return name
    raise ValueError(f"{archive} has no version.json")


def _list_before(path: Path, keys: Sequence[SigningKey]) -> UpdateList | None:
    if not path.exists():
        return None
    return read_list(verified_content(path.read_bytes(), tuple(map(public_key, keys))))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m installers.update_manifest")
    actions = parser.add_subparsers(dest="action", required=True)
    key = actions.add_parser("key", help="make a key pair; print the public key")
    key.add_argument("file", type=Path, help="the file for the private key")
    add = actions.add_parser("add", help="add archives of a version, or only sign anew")
    add.add_argument(
        "--key", type=Path, action="append", required=True, help="a file with a private key"
    )
    add.add_argument("--notes", type=Path, help="a text file that tells what is new")
    add.add_argument("--minimum", default="", help="the oldest version that can go to it")
    add.add_argument("folder", type=Path, help="the folder to publish")
    add.add_argument("archives", type=Path, nargs="*", help="a .tar.xz or .zip for each system")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
