"""The list of a tree's files with their sizes and hashes, which `safelight doctor` compares.

    python -m installers.file_list TREE

writes it anew, where signing has changed files.
"""

import json
import sys
from pathlib import Path

from app.installation import FILE_LIST
from installers.archives import files_of
from installers.inputs import sha256


def write_file_list(root: Path) -> Path:
    """Write the list into the root of a tree, as its last file."""
    files = {
        name: (path.stat().st_size, sha256(path))
        for name, path in files_of(root)
        if path.is_file() and name != FILE_LIST
    }
    target = root / FILE_LIST
    target.write_text(json.dumps({"files": files}, indent=0), encoding="utf-8")
    return target


if __name__ == "__main__":
    write_file_list(Path(sys.argv[1]))
