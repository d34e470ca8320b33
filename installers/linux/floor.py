"""The oldest C library that a tree runs with: `python -m installers.linux.floor TREE`.

Reads the versions of symbols that each ELF file asks for.
"""

import re
import sys
from pathlib import Path

from installers.linux import elf

# Ubuntu 22.04, Debian 12 and RHEL 9 have it or newer; PySide6's wheels ask for it.
FLOOR = (2, 34)
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")


def newest_glibc(versions: list[str]) -> tuple[int, int]:
    """Return the newest version of glibc among versions of symbols; (0, 0) if there is none."""
    found = (_GLIBC.match(version) for version in versions)
    return max(((int(match[1]), int(match[2])) for match in found if match), default=(0, 0))


def floors(root: Path) -> dict[Path, tuple[int, int]]:
    """Return for each ELF file of a tree the glibc that it needs."""
    paths = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {path: newest_glibc(list(elf.versions(path))) for path in paths if elf.is_elf(path)}


def main(root: Path) -> int:
    """Print the newest glibc that a tree needs, and files above the floor; 1 if there are some."""
    found = floors(root)
    major, minor = max(found.values())
    print(f"{len(found)} ELF files; the newest asks for glibc {major}.{minor}.")
    above = [path for path, version in found.items() if version > FLOOR]
    for path in above:
        print(f"{path} needs more than glibc {FLOOR[0]}.{FLOOR[1]}.", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
