"""Two versions share a cache: each finds its own networks and verdicts, also after going back."""

from pathlib import Path

import pytest

from engine.compile import key as artifact_keys
from engine.devices import fingerprint as fingerprints
from engine.devices.verdicts import BackendReport, VerdictStore
from tests.app.updates.trees import NEW, OLD


def as_version(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Have fingerprints and keys be those of a version of Safelight."""

    def named(_: str) -> str:
        return version

    for module in (artifact_keys, fingerprints):
        monkeypatch.setattr(module, "version", named)


def test_each_version_keeps_its_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def store(version: str) -> VerdictStore:
        as_version(monkeypatch, version)
        return VerdictStore(tmp_path / "devices.json", fingerprints.fingerprint_of((), (), {}))

    old = store(OLD)
    old.keep(BackendReport(backend="cpu", fingerprint=old.fingerprint, problem="as the old one"))
    new = store(NEW)
    assert new.fingerprint != old.fingerprint
    assert new.find("cpu") is None
    new.keep(BackendReport(backend="cpu", fingerprint=new.fingerprint, problem="as the new one"))
    again = store(OLD).find("cpu")
    assert again is not None
    assert again.problem == "as the old one"


def test_each_version_has_keys_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "backend.py").write_text("pass\n")
    digests: list[str] = []
    for version in (OLD, NEW, OLD):
        as_version(monkeypatch, version)
        digests.append(artifact_keys.code_digest(tmp_path))
    assert digests[0] == digests[2] != digests[1]
