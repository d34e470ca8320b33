"""The documents' promises: links lead somewhere, what they name exists, README stays short."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api.values import SamplerName, ScheduleName
from engine.families.registry import FAMILIES

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TOPS = ("app", "backends", "benchmarks", "engine", "installers", "starter", "tests", "ui")
ROOMS = sorted(path.parent.name for path in (ROOT / "engine").glob("*/__init__.py"))
README_LINES = 100
# A line on the screen; tables and pictures are let off.
README_COLUMNS = 140
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?:{'|'.join(TOPS)}|docs)/[\w./-]*")
NAME = re.compile(r"[a-z_]+(?:\.\w+)+")
# `NAME` (`path`), `NAME` of `path`, several names of one file.
NAMES_IN_FILE = re.compile(
    r"((?:`\w+`(?:, | and ))*`\w+`) (?:\(|of |in |\(in )"
    rf"`((?:{'|'.join(TOPS)})/[\w/]+\.py)`"
)
DECISION = re.compile(r"^## (\d+)\. .*$", re.MULTILINE)
STATUS = re.compile(
    r" \(\d{4}-\d\d-\d\d(?:, [^;]+)?; (?:stands(?:; [^;]+)?|(?:in part )?overtaken by (\d+))\)$"
)


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def links(page: Path) -> Iterator[str]:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            yield target.partition("#")[0]


def quoted(page: Path) -> list[str]:
    # Blocks of code are no names.
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return QUOTED.findall(text)


def exists(name: str) -> bool:
    """Return True if a dotted name is a module, or a name that a module's text has."""
    parts = name.split(".")
    if parts[0] in ROOMS:
        parts = ["engine", *parts]
    for length in range(len(parts), 0, -1):
        base = ROOT.joinpath(*parts[:length])
        for source in (base.with_suffix(".py"), base / "__init__.py"):
            if source.is_file():
                text = source.read_text(encoding="utf-8")
                return all(re.search(rf"\b{part}\b", text) for part in parts[length:])
    return ROOT.joinpath(*parts).is_dir()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_to_files(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_names_are_in_the_files_that_documents_give_for_them() -> None:
    found = [
        (page, name, path)
        for page in PAGES
        for names, path in NAMES_IN_FILE.findall(" ".join(page.read_text("utf-8").split()))
        for name in re.findall(r"\w+", names)
    ]
    assert len(found) > 15
    missing = [
        f"{page.name}: {name} in {path}"
        for page, name, path in found
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_paths_and_modules_that_are_named_exist(page: Path) -> None:
    words = [word for word in quoted(page) if "*" not in word]
    paths = [word for word in words if PATH.fullmatch(word) and not (ROOT / word).exists()]
    names = [
        word
        for word in words
        if NAME.fullmatch(word) and word.partition(".")[0] in (*TOPS, *ROOMS) and not exists(word)
    ]
    assert paths + names == []


def test_the_index_names_each_page_of_docs() -> None:
    folder = ROOT / "docs"
    found = {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert found <= set(links(folder / "README.md"))


def test_readme_links_the_page_of_each_family_beside_those_of_stable_diffusion() -> None:
    folders = {module.rpartition(".")[2] for module in FAMILIES.modules}
    wanted = folders - {"sd1", "sd2", "sdxl", "sdxl_refiner"}
    linked = set(links(ROOT / "README.md"))
    assert {name for name in wanted if f"docs/{name}.md" not in linked} == set()


def test_the_guide_names_every_sampler_and_schedule() -> None:
    """In the item that begins with "Samplers", by their labels and between commas."""
    guide = (ROOT / "docs/guide.md").read_text(encoding="utf-8")
    listed = guide.partition("- **Samplers**: ")[2].partition(". `--set")[0]
    samplers, schedules = " ".join(listed.split()).casefold().split(". schedules: ")
    for listed, names in ((samplers, SamplerName), (schedules, ScheduleName)):
        labels = {name.label.casefold() for name in names}
        assert set(listed.split(", ")) == labels, "docs/guide.md lists all labels"


def test_the_map_names_each_folder_of_the_engine_the_app_and_the_window() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = {name for line in text.splitlines() for name in QUOTED.findall(line.partition(" | ")[0])}
    found = (path for top in ("app", "engine", "ui") for path in (ROOT / top).glob("*/__init__.py"))
    folders = {f"{path.parent.relative_to(ROOT).as_posix()}/" for path in found}
    assert folders - rows == set()


def test_readme_counts_the_pictures_of_fidelity() -> None:
    counted = [
        re.search(pattern, (ROOT / page).read_text(encoding="utf-8"))
        for page, pattern in (
            ("README.md", r"tools, (\d+) pictures agree to \d+ dB"),
            ("FIDELITY.md", r"There are (\d+) comparisons"),
        )
    ]
    numbers = [found[1] for found in counted if found]
    assert len(numbers) == 2
    assert numbers[0] == numbers[1]


def test_readme_fits_on_two_screens() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= README_LINES
    long = [line for line in lines if len(line) > README_COLUMNS and line[0] not in "|!"]
    assert long == []


def decisions() -> dict[int, str]:
    """Return the headings of all decisions, in the order of the file, by their numbers."""
    text = (ROOT / "DECISIONS.md").read_text(encoding="utf-8")
    return {int(found[1]): found[0] for found in DECISION.finditer(text)}


def test_decisions_stand_in_the_order_of_their_numbers() -> None:
    text = (ROOT / "DECISIONS.md").read_text(encoding="utf-8")
    numbers = [int(found[1]) for found in DECISION.finditer(text)]
    assert numbers == sorted(set(numbers))


def test_decisions_say_their_status() -> None:
    assert [heading for heading in decisions().values() if not STATUS.search(heading)] == []


def test_overtaken_decisions_name_a_later_entry() -> None:
    found = {number: STATUS.search(heading) for number, heading in decisions().items()}
    later = {number: int(status[1]) for number, status in found.items() if status and status[1]}
    assert later
    assert [number for number, new in later.items() if new not in found or new <= number] == []


def test_the_picture_of_the_window_is_light() -> None:
    for name in ("window", "gallery", "models"):
        assert f"docs/{name}.png" in (ROOT / "README.md").read_text(encoding="utf-8")
        assert (ROOT / "docs" / f"{name}.png").stat().st_size < 350_000


def test_each_test_that_is_named_exists() -> None:
    named = [
        name
        for page in PAGES
        for name in re.findall(r"`(tests/\S+\.py)::(\w+)`", page.read_text("utf-8"))
    ]
    assert len(named) > 70
    missing = [
        f"{path}::{test}"
        for path, test in named
        if not (ROOT / path).is_file()
        or f"\ndef {test}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []
