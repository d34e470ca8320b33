"""Installs a version beside the present one, so that it begins with the next start.

    archive --unpacked--> .staging-VERSION-... --synced, renamed--> VERSION --tried--> active

Whatever ends this program in between, the folder of a version is whole, and a version is active
only after it has run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import msgspec

from app.updates.errors import UpdateCode, UpdateError, cancelled_error
from app.updates.offers import Offer
from app.updates.removal import REMOVED, remove_version
from app.updates.unpacking import ArchiveError, unpack
from app.updates.wholeness import InstalledFiles, damage_of
from app.versions.state import change_state
from app.versions.trees import FACTS, LIST, TREE, Tree, read_tree, version_folder
from engine.api.sentences import sentence
from engine.durable import FULL, rename_folder, replace_file, sync_folder
from engine.file_lock import FileLock
from safelight_launcher import clean_environment

STAGING = ".staging-"
_LOCK = "install.lock"
# Antivirus programs read each file of a version that runs for the first time.
_TRIAL_S = 120
# Room on the disk that is left to others, in bytes.
_SPARE = 64 << 20


@contextmanager
def installing(versions: Path) -> Generator[None]:
    """Let one process at a time install or remove versions; clear what a killed one left.

    Raises UpdateError(BUSY), and OSError.
    """
    versions.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock = FileLock(versions / _LOCK, create=True)
    except BlockingIOError as error:
        raise UpdateError(
            UpdateCode.BUSY,
            sentence("Another Safelight is installing an update."),
            sentence("Wait until it is done, then try again."),
        ) from error
    try:
        for left in (*versions.glob(f"{STAGING}*"), *versions.glob(f"{REMOVED}*")):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        lock.release()


def require_room(versions: Path, needed: int) -> None:
    """Raise UpdateError(DISK_FULL) unless `needed` bytes fit on the disk; OSError."""
    free = shutil.disk_usage(versions).free
    if free < needed + _SPARE:
        raise UpdateError(
            UpdateCode.DISK_FULL,
            sentence(
                "There is no room for the new version in {folder}: it takes {needed:,} MB, and"
                " {free:,} MB are free.",
                folder=versions,
                needed=_megabytes(needed),
                free=_megabytes(free),
            ),
            sentence("Free some space, then try again."),
        )


def install_archive(
    archive: Path, offer: Offer, versions: Path, cancelled: Callable[[], bool]
) -> None:
    """Unpack a verified archive to its version's folder. Raises UpdateError, OSError.

    A whole tree that is there already is kept.
    """
    final = Path(version_folder(str(versions), offer.version))
    if final.exists():
        if not damage_of(final):
            return
        remove_version(final)
    staging = versions / f"{STAGING}{offer.version}-{token_hex(4)}"
    tree = staging / TREE
    tree.mkdir(mode=0o755, parents=True)
    try:
        unpacked = unpack(archive, tree, offer.disk_bytes, cancelled)
        _require_version(tree, offer.version)
        listed = InstalledFiles(files=unpacked.files, links=unpacked.links, sha256=offer.sha256)
        replace_file(staging / LIST, msgspec.json.encode(listed), durable=True)
        rename_folder(staging, final)
    except ArchiveError as error:
        raise UpdateError(
            UpdateCode.BAD_ARCHIVE,
            sentence("The archive of version {version} cannot be unpacked.", version=offer.version),
            sentence("Nothing of it is used. Try again later."),
            str(error),
        ) from error
    except InterruptedError as error:
        raise cancelled_error() from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    sync_folder(versions)


def require_running(tree: Tree) -> None:
    """Raise UpdateError(DOES_NOT_RUN) unless the version runs here and says which one it is."""
    command = [tree.launcher(window=False), "--version"]
    # A version never hands over to another one from within the folder of versions.
    try:
        done = subprocess.run(
            command,
            env=clean_environment(os.environ, command[1:]),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            # The window has no console: Windows would open one.
            creationflags=subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0,
            timeout=_TRIAL_S,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _does_not_run(tree, str(error)) from error
    if done.returncode != 0 or done.stdout.split() != ["safelight", tree.version]:
        said = (done.stdout + done.stderr)[-2000:]
        raise _does_not_run(tree, f"status {done.returncode}: {said}")


def activate(versions: Path, version: str, previous: str) -> None:
    """Make a version the one that starts next, on trial. Raises OSError."""
    change_state(versions, lambda state: state.activated(version, previous))


@contextmanager
def disk_errors(folder: Path) -> Generator[None]:
    """Turn errors of the disk into UpdateErrors for a person."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise UpdateError(
                UpdateCode.DISK_FULL,
                sentence("The disk of {folder} is full.", folder=folder),
                sentence("Free some space, then try again."),
                str(error),
            ) from error
        raise UpdateError(
            UpdateCode.NOT_WRITABLE,
            sentence(
                "Nothing can be written in {folder}: {reason}.",
                folder=folder,
                reason=error.strerror,
            ),
            sentence("See that the folder belongs to you and can be written, then try again."),
            str(error),
        ) from error


def _require_version(folder: Path, version: str) -> None:
    """Raise ArchiveError unless the tree is that version's, with a launcher."""
    tree = read_tree(str(folder))
    if tree is None or tree.version != version:
        found = "no version" if tree is None else f"version {tree.version}"
        raise ArchiveError(f"its {FACTS} tells of {found}")
    if not os.access(tree.launcher(window=True), os.X_OK):
        raise ArchiveError("it has no program to start")


def _does_not_run(tree: Tree, detail: str) -> UpdateError:
    return UpdateError(
        UpdateCode.DOES_NOT_RUN,
        sentence("Version {version} does not run on this computer.", version=tree.version),
        sentence("This version stays. The notes of the new one may say what it needs."),
        detail,
    )


def _megabytes(count: int) -> int:
    return -(-count // 1_000_000)
