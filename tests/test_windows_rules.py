"""Rules of code for Windows, which no other system would show to be broken.

In a folder that may not be written to, `tempfile` of Python before 3.14 tries 2^31 names there:
`os.access` does not see lists of access (github.com/python/cpython/issues/66305).
"""

import ast
from collections.abc import Iterator

from tests.test_architecture import ROOT, source_files


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for path in source_files():
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def test_no_file_is_made_by_tempfile_in_a_folder_that_may_not_be_written_to() -> None:
    found = {
        f"{name}:{node.lineno}"
        for name, tree in _trees()
        if not name.startswith("benchmarks")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("tempfile.")
        and any(keyword.arg == "dir" for keyword in node.keywords)
    }
    assert found == set()
