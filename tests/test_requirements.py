"""Bounds in pyproject.toml, pins in constraints.txt, and what the sources import."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHIPPED = ("app", "backends", "engine", "ui")
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("linux", "darwin", "win32")
# A backend imports it where a person installed it.
OPTIONAL = ("openvino", "torch")
IMPORTED = re.compile(r"^ *(?:import (?=[\w., ]+$)|from (?=[\w.]+ import ))(\w+)", re.MULTILINE)


def of_the_app() -> list[Requirement]:
    return [Requirement(line) for line in PROJECT["dependencies"]]


def of_developers() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    lines = [Requirement(line) for line in (*extras["dev"], *extras["oracle"])]
    # What is tested with packs has them by their extras.
    packs = [extra for line in lines if line.name == PROJECT["name"] for extra in line.extras]
    of_packs = [Requirement(line) for pack in packs for line in extras[pack]]
    return [*(line for line in lines if line.name != PROJECT["name"]), *of_packs]


def pins() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


def applies(requirement: Requirement, python: str, system: str) -> bool:
    machine = {"linux": "x86_64", "darwin": "arm64", "win32": "AMD64"}[system]
    where = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system,
        "platform_machine": machine,
    }
    return requirement.marker is None or requirement.marker.evaluate(where)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_requirement_is_pinned_once_within_its_bounds(python: str, system: str) -> None:
    pinned = [pin for pin in pins() if applies(pin, python, system)]
    names = [canonicalize_name(pin.name) for pin in pinned]
    assert len(names) == len(set(names))
    versions = {name: str(pin.specifier) for name, pin in zip(names, pinned, strict=True)}
    for needed in (*of_the_app(), *of_developers()):
        if applies(needed, python, system):
            version = versions[canonicalize_name(needed.name)].removeprefix("==")
            assert needed.specifier.contains(version), f"{needed}, {version}: run `make lock`"


def test_pins_are_versions_and_name_no_host() -> None:
    assert all([s.operator for s in pin.specifier] == ["=="] for pin in pins())
    assert {pin.url for pin in pins()} == {None}


def test_the_app_bounds_its_requirements_at_both_ends() -> None:
    operators = {
        requirement.name: {s.operator for s in requirement.specifier}
        for requirement in of_the_app()
    }
    assert {name: found for name, found in operators.items() if found != {">=", "<"}} == {}


def test_the_app_imports_nothing_that_only_developers_install() -> None:
    own = {canonicalize_name(requirement.name) for requirement in of_the_app()}
    distributions = packages_distributions()
    found = {
        (str(path.relative_to(ROOT)), name)
        for folder in SHIPPED
        for path in (ROOT / folder).rglob("*.py")
        for name in IMPORTED.findall(path.read_text(encoding="utf-8"))
        if name not in sys.stdlib_module_names
        and name not in (*SHIPPED, *OPTIONAL, "safelight_launcher", "starter")
        and own.isdisjoint(canonicalize_name(d) for d in distributions.get(name, ()))
    }
    assert found == set()
