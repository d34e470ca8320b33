"""Lines are counted as coverage.py counts them, and the floor is held."""

import os
import runpy
import subprocess
import sys
from importlib.util import module_from_spec
from pathlib import Path

import coverage
import pytest

from tests import line_coverage, marked_lines

FILE = str(Path(marked_lines.__file__))
_TEST = "from counted.part import half\n\ndef test_it():\n    assert half(%d) == 1\n"
_PART = "def half(x):\n    if x == 2:\n        return 1\n    y = 3\n    y = 4\n    return x / 3\n"


def test_lines_are_those_of_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = coverage.Coverage(data_file=None, include=[FILE], config_file=False)
    with judge.collect():
        space = runpy.run_path(FILE)
        expected = space["everything"]()
    _, statements, _, missing, _ = judge.analysis2(FILE)

    monkeypatch.setattr(line_coverage.MarkingFinder, "packages", ("tests.marked_lines.",))
    spec = line_coverage.MarkingFinder.find_spec("tests.marked_lines", [str(Path(FILE).parent)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    assert module.everything() == expected
    own = coverage.Coverage(data_file=None, config_file=False)
    own.get_data().add_lines({FILE: line_coverage.lines_run(FILE)})
    _, own_statements, _, own_missing, _ = own.analysis2(FILE)
    assert (own_statements, own_missing) == (statements, missing)
    assert 4 < len(missing) < len(statements) / 4
    # Python 3.13 and later warn of databases that are left open.
    for counted in (judge, own):
        counted.get_data().close(force=True)


@pytest.mark.parametrize(
    ("number", "workers", "status", "said"), [(2, "0", 1, "50.00 %"), (3, "2", 0, "83.33 %")]
)
def test_too_few_lines_fail_a_run(
    tmp_path: Path, number: int, workers: str, status: int, said: str
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.coverage.report]\nfail_under = 80\n")
    (tmp_path / "counted").mkdir()
    (tmp_path / "counted" / "part.py").write_text(_PART)
    (tmp_path / "test_part.py").write_text(_TEST % number)
    command = [sys.executable, "-m", "pytest", "-p", "tests.line_coverage", "-n", workers]
    # Qt and others would load in each of the processes for nothing.
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    path = os.pathsep.join(map(str, (Path(__file__).parents[1], tmp_path)))
    ended = subprocess.run(
        [*command, "--count-lines", "counted", "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | plugins | {"PYTHONPATH": path},
    )
    assert (ended.returncode, said in ended.stdout) == (status, True), ended.stdout + ended.stderr
