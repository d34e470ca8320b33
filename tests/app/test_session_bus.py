"""Names and their owners on the bus of a session."""

import sys
from pathlib import Path

import pytest

from app.session_bus import bus_address, has_owner
from tests.app.session_bus import owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")


def test_a_name_has_an_owner_while_a_program_has_it(bus: str) -> None:
    name = "app.safelight.Test"
    assert not has_owner(bus, name)
    with owner(bus, name):
        assert has_owner(bus, name)
    assert not has_owner(bus, name)


def test_nobody_is_on_a_bus_that_is_not_there(tmp_path: Path) -> None:
    assert not has_owner(f"unix:path={tmp_path / 'bus'}", "app.safelight.Test")
    assert not has_owner("nonsense", "app.safelight.Test")


def test_the_address_is_told_or_the_usual_one(tmp_path: Path) -> None:
    assert bus_address({}) == ""
    assert bus_address({"XDG_RUNTIME_DIR": str(tmp_path)}) == ""
    (tmp_path / "bus").touch()
    usual = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert bus_address(usual) == f"unix:path={tmp_path / 'bus'}"
    assert bus_address({**usual, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}) == "unix:path=/x"
