"""Compiles modules; runs in the interpreter that shall load them, with its standard library alone.

`compiling.py ROOT beside=FOLDER documented=FOLDER bundled=FOLDER=ARCHIVE packed=FOLDER=ARCHIVE`,
each any number of times, as in `bytecode.Compilation`. One process and sorted names, because what
was compiled before reaches the references within a file. Hashes in the files are not checked when
they are loaded, so that times of files do not matter.
"""

import ast
import importlib.util
import marshal
import sys
import zipfile
from pathlib import Path
from types import CodeType

_UNCHECKED_HASH = 1
_TIME = (2026, 1, 1, 0, 0, 0)
# The interpreter finds its library's folder by this module, which therefore is not packed.
_LANDMARK = "os.pyc"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def main(root: Path, orders: list[str]) -> None:
    """Carry out each order."""
    for order in orders:
        kind, folder, *archive = order.split("=")
        modules = sorted((root / folder).rglob("*.py"))
        for path in modules:
            _compile(path, root, kind)
        if kind == "packed":
            _pack(root / folder, root / archive[0])
        if kind == "bundled":
            _bundle(root / folder, root / archive[0])


def _compile(path: Path, root: Path, kind: str) -> None:
    source, name = path.read_bytes(), path.relative_to(root).as_posix()
    beside, documented = kind == "beside", kind in ("beside", "documented")
    code = compile(source, name, "exec", dont_inherit=True) if documented else _bare(source, name)
    target = Path(importlib.util.cache_from_source(path)) if beside else path.with_suffix(".pyc")
    target.parent.mkdir(exist_ok=True)
    header = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH.to_bytes(4, "little")
    target.write_bytes(header + importlib.util.source_hash(source) + marshal.dumps(code))
    if not beside:
        path.unlink()


def _bare(source: bytes, name: str) -> CodeType:
    """Compile with empty docstrings. NumPy asks that there are some; assertions stay."""
    module = ast.parse(source, name)
    for node in ast.walk(module):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.copy_location(ast.Expr(ast.Constant("")), node.body[0])
    ast.fix_missing_locations(module)
    return compile(module, name, "exec", dont_inherit=True)


def _pack(folder: Path, archive: Path) -> None:
    modules = ((path, path.relative_to(folder).as_posix()) for path in folder.rglob("*.pyc"))
    wanted = [
        (path, name)
        for path, name in modules
        if name != _LANDMARK and not name.startswith("site-packages/")
    ]
    _move_into(archive, wanted)
    _remove_empty(folder)


def _bundle(package: Path, archive: Path) -> None:
    files = (path for path in package.rglob("*") if path.is_file())
    _move_into(archive, [(path, path.relative_to(archive.parent).as_posix()) for path in files])
    # Python finds a namespace package in an archive by an entry of its own.
    with zipfile.ZipFile(archive, "a") as packed:
        for folder in package.relative_to(archive.parent).parents[:-1]:
            packed.writestr(zipfile.ZipInfo(f"{folder.as_posix()}/", _TIME), "")
    _remove_empty(package)
    package.rmdir()


def _move_into(archive: Path, files: list[tuple[Path, str]]) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes())
            path.unlink()


def _remove_empty(folder: Path) -> None:
    for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        if not any(path.iterdir()) and path.name != "lib-dynload":
            path.rmdir()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
