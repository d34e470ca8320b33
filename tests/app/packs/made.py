"""Packs as the tests make them: small wheels of a made-up runtime, and the folders they are in."""

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from app.downloads.source import Source
from app.packs.catalogue import Pack, Platform
from app.packs.installation import Installation
from app.packs.store import Installed, PackStore
from engine.api.machine import PackVerdict

# A module, a native library in name, and metadata, as each real wheel has them.
FILES: Mapping[str, bytes] = {
    "tiny_runtime/__init__.py": b"VERSION = '{version}'\n",
    "tiny_runtime/libtiny.so": bytes(range(256)) * 40,
    "tiny_runtime-{version}.dist-info/METADATA": b"Name: tiny-runtime\nVersion: {version}\n",
}


def wheel_bytes(path: Path, files: Mapping[str, bytes]) -> bytes:
    """Write a wheel with these files, and return its bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path.read_bytes()


def files_of(version: str, module: bytes = b"") -> dict[str, bytes]:
    """Return the files of the made-up runtime in a version; `module` is added to its code."""
    found = {
        name.replace("{version}", version): content.replace(b"{version}", version.encode())
        for name, content in FILES.items()
    }
    found["tiny_runtime/__init__.py"] += module
    return found


def a_pack(
    folder: Path,
    version: str = "1.0",
    files: Mapping[str, bytes] | None = None,
    *,
    name: str = "tiny",
    url: str = "http://127.0.0.1:9/",
    replaces_onnxruntime: bool = False,
) -> Pack:
    """Write a pack's wheel into a folder, and return the pack; by default the made-up runtime's."""
    folder.mkdir(parents=True, exist_ok=True)
    files = files_of(version) if files is None else files
    file_name = f"{name}_runtime-{version}-py3-none-any.whl"
    content = wheel_bytes(folder / file_name, files)
    here = Platform.here()
    source = Source(
        f"{url}{file_name}", (), file_name, len(content), hashlib.sha256(content).hexdigest()
    )
    return Pack(
        id=name,
        title=name.title(),
        summary="A runtime that is made up.",
        version=version,
        imports=("tiny_runtime",),
        system=here.system,
        machine=here.machine,
        replaces_onnxruntime=replaces_onnxruntime,
        wheels=(source,),
        disk_bytes=sum(map(len, files.values())),
    )


def works(
    root: Path, name: str, pack: Installed, imports: tuple[str, ...], cancelled: Callable[[], bool]
) -> PackVerdict:
    """Find that a pack works; the trial in a process of its own has tests of its own."""
    return PackVerdict(works=True, sentence=f"{name} works.")


def fails(
    root: Path, name: str, pack: Installed, imports: tuple[str, ...], cancelled: Callable[[], bool]
) -> PackVerdict:
    """Find that a pack does not work."""
    return PackVerdict(works=False, sentence="It crashed (SIGSEGV).")


def installation(store: PackStore) -> Installation:
    """Return an installation whose packs all work."""
    return Installation(store, trial=works)


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder of packs, without those that are always there."""
    return {path.name for path in folder.iterdir()} - {".lock", ".downloads", "active.json"}


def state_of(store: PackStore) -> dict[str, dict[str, str]]:
    """Return what `active.json` says."""
    content = msgspec.json.decode(
        (store.folder / "active.json").read_bytes(), type=dict[str, object]
    )
    return msgspec.convert(
        {key: content[key] for key in ("active", "inactive", "previous")},
        dict[str, dict[str, str]],
    )
