"""Trees of versions on disk: the installed one, and those beside it.

A tree is a folder with `version.json`, the launcher and everything that Safelight consists of.
Standard library only, and paths are texts: the launcher uses it, and has milliseconds.
"""

import json
import os
import sys
from typing import Any, NamedTuple

from app.code_folder import code_folder
from app.versions.names import is_version

FACTS = "version.json"
# In the folder of a version: its tree, and the list of its files, which is there once the tree is
# whole. The list is not in the tree, because macOS takes a bundle with another file for damaged.
TREE = "Safelight.app" if sys.platform == "darwin" else "tree"
LIST = "installed.json"
# The variable with the folder of the tree that handed over to this version.
INSTALLED_AT = "SAFELIGHT_INSTALLED_AT"
_MOST_BYTES = 1 << 16


class Tree(NamedTuple):
    """A tree with its version; `place` is where its updates are published, if anywhere."""

    folder: str
    version: str
    place: str = ""

    def launcher(self, *, window: bool) -> str:
        """Return the path of the program that starts this version."""
        return os.path.join(self.folder, _launcher_name(window=window))  # noqa: PTH118


def _launcher_name(*, window: bool) -> str:
    """Return the launcher's path in a tree; Windows has one more for the command line."""
    if sys.platform == "win32":
        return "safelight.exe" if window else "safelight.com"
    if sys.platform == "darwin":
        return "Contents/MacOS/Safelight"
    return "safelight"


def read_tree(folder: str) -> Tree | None:
    """Return the tree in a folder; None if its facts are missing or make no sense."""
    try:
        with open(_facts_of(folder), "rb") as file:  # noqa: PTH123
            facts: Any = json.loads(file.read(_MOST_BYTES))
        version, place = facts["version"], facts.get("updates", "")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not (isinstance(version, str) and is_version(version) and isinstance(place, str)):
        return None
    return Tree(folder, version, place)


def own_tree() -> Tree | None:
    """Return the tree that this code is in; None where it runs from its sources."""
    return read_tree(tree_of(code_folder()))


def tree_of(code: str) -> str:
    """Return the folder of the tree whose code lies in `code`."""
    up = 3 if sys.platform == "darwin" else 1  # Safelight.app/Contents/Resources/lib
    for _ in range(up):
        code = os.path.dirname(code)  # noqa: PTH120
    return code


def version_folder(versions: str, version: str) -> str:
    """Return the folder of a version in the folder of versions: its tree, and the tree's list."""
    return os.path.join(versions, version)  # noqa: PTH118


def tree_folder(versions: str, version: str) -> str:
    """Return the folder of a version's tree in the folder of versions."""
    return os.path.join(version_folder(versions, version), TREE)  # noqa: PTH118


def is_beside(tree: Tree, versions: str) -> bool:
    """Return True for a tree in the folder of versions, which hands over to no other."""
    own, folder = (os.path.realpath(path) for path in (tree.folder, versions))
    return own.startswith(os.path.join(folder, ""))  # noqa: PTH118


def _facts_of(folder: str) -> str:
    inside = ("Contents", "Resources") if sys.platform == "darwin" else ()
    return os.path.join(folder, *inside, FACTS)  # noqa: PTH118
