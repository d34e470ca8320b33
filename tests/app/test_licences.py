"""The licence of everything that Safelight is made of."""

from pathlib import Path

import pytest

from app import licences as module
from app.licences import licences


def test_a_checkout_names_what_it_requires() -> None:
    found = {licence.name.lower(): licence for licence in licences()}
    assert {"safelight", "numpy", "msgspec", "pillow"} <= set(found)
    assert next(iter(found)) == "safelight"
    assert "Apache" in found["safelight"].text
    assert all(licence.version for licence in found.values())
    # Tools of developers are no part of it.
    assert "pytest" not in found


def test_an_installed_tree_shows_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "licences").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "LICENSE").write_text("ours")
    (tmp_path / "licences" / "MIT.txt").write_text("of MIT")
    (tmp_path / "site" / "LICENSE").write_text("of its own")
    (tmp_path / "licences" / "THIRD-PARTY.txt").write_text(
        "It comes with the work of others.\n\nnumpy 2.0: BSD-3-Clause\n  MIT.txt\n  site/LICENSE\n"
        "  Sources: https://example.org\n"
    )
    monkeypatch.setattr(module, "installed_root", lambda: tmp_path)
    own, numpy = licences()
    assert (own.name, own.text) == ("Safelight", "ours")
    assert numpy[:3] == ("numpy", "2.0", "BSD-3-Clause")
    assert numpy.text == "of MIT\n\nof its own"
