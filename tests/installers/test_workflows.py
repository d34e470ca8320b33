"""The workflows of hosted runners run only code that is pinned, with no more rights than needed."""

import re
from pathlib import Path

import pytest

from installers.inputs import Target

FOLDER = Path(__file__).parents[2] / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_there_is_one_for_tests_and_one_for_installers() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "package.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_action_is_pinned_by_its_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    assert [line for line in used if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_none_but_what_a_job_asks_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head, _, jobs = text.partition("\njobs:\n")
    assert "\npermissions: {}\n" in head
    assert jobs.count("permissions:") == len(re.findall(r"^  \w+:$", jobs, re.MULTILINE))
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_installers_of_each_system_are_built_and_tried_before_a_release() -> None:
    text = (FOLDER / "package.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"- \{ target: (\w+),", text)) == set(Target)
    tried = [str(target) for target in Target]
    assert f"  release:\n    needs: [{', '.join(tried)}]\n" in text
    assert text.count(" generate --steps ") >= len(Target)
    assert "--draft" in text
