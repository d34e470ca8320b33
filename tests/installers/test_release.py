"""A release lists what is in it, with licences, hashes and a page."""

import subprocess
import tarfile
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import msgspec
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from app.updates.manifest import read_list
from app.updates.places import list_name
from app.updates.signatures import verified_content
from app.updates.updates import CHANNEL
from installers import licences
from installers.archives import write_tar_xz
from installers.errors import BuildError
from installers.inputs import File, Inputs, Target, read_inputs, sha256
from installers.licences import FOLDER, OVERVIEW, LicenceError, Part, parts, write_licences
from installers.release import CHECKSUMS, PAGE, checksums, make_release, notes_of
from installers.sbom import package_url, sbom
from installers.update_manifest import make_key

LINUX = (Target.LINUX,)
URL = "https://host/numpy-2.5.5-cp313-cp313-win_amd64.whl"
WHEEL = File("numpy", "2.5.5", URL, 1, "a" * 64, LINUX)
SOURCE = File("zlib.orig", "1:1.3.1-1", "https://host/zlib.tar.xz", 1, "b" * 64, LINUX)
PART = Part(WHEEL, "BSD-3-Clause AND MIT", ("site/numpy/LICENSE",), (), "")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The builder's folder of downloads, still empty."""
    monkeypatch.setenv("SAFELIGHT_INSTALLERS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "files"


def add(cache: Path, name: str, headers: str = "", texts: tuple[str, ...] = ()) -> File:
    """Put a wheel into the builder's downloads and return its pin."""
    file_name = f"{name}-1.0-py3-none-any.whl"
    information = f"{name}-1.0.dist-info"
    cache.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(cache / file_name, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "")
        wheel.writestr(f"{information}/METADATA", f"Name: {name}\n{headers}")
        for text in texts:
            wheel.writestr(text.format(information=information), "text")
    digest, size = sha256(cache / file_name), (cache / file_name).stat().st_size
    (cache / digest).mkdir()
    (cache / file_name).rename(cache / digest / file_name)
    return File(name, "1.0", f"https://host/{file_name}", size, digest, LINUX)


def test_the_list_of_parts_is_valid_cyclonedx() -> None:
    content = sbom("1.2.3", Target.LINUX, [PART, Part(SOURCE, "Zlib", (), ("x",), "")])
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(content.decode()) is None
    broken = content.decode().replace("BSD-3-Clause AND MIT", "its own")
    assert validator.validate_str(broken.replace('"library"', '"book"')) is not None


def test_the_list_of_parts_names_each_with_hash_licence_and_address() -> None:
    content = msgspec.json.decode(sbom("1.2.3", Target.LINUX, [PART]))
    (component,) = content["components"]
    assert (component["name"], component["version"]) == ("numpy", "2.5.5")
    assert component["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert component["licenses"] == [{"expression": "BSD-3-Clause AND MIT"}]
    assert component["externalReferences"][0]["url"] == URL
    assert content["metadata"]["component"]["version"] == "1.2.3"
    assert content["dependencies"][0]["dependsOn"] == [component["bom-ref"]]


def test_the_same_parts_give_the_same_list_and_others_another() -> None:
    assert sbom("1", Target.LINUX, [PART]) == sbom("1", Target.LINUX, [PART])
    serial = msgspec.json.decode(sbom("1", Target.LINUX, [PART]))["serialNumber"]
    assert serial != msgspec.json.decode(sbom("1", Target.LINUX, []))["serialNumber"]


def test_package_urls_tell_wheels_from_other_files() -> None:
    assert package_url(WHEEL).startswith("pkg:pypi/numpy@2.5.5?file_name=numpy-2.5.5-cp313")
    assert package_url(SOURCE) == "pkg:deb/debian/zlib@1%3A1.3.1-1?arch=source"
    archive = File("cpython-macos", "3.13.17", "https://host/a.tar.gz", 0, "c" * 64, LINUX)
    assert package_url(archive) == (
        "pkg:generic/cpython-macos@3.13.17?download_url=https%3A%2F%2Fhost%2Fa.tar.gz"
    )


def test_a_wheel_brings_its_licence_and_its_texts(cache: Path) -> None:
    texts = ("{information}/licenses/LICENSE", "own/NOTICE.txt", "own/deep/LICENSE")
    file = add(cache, "own", "License-Expression: MIT\n", texts)
    (part,) = parts(Inputs((file,), ()), Target.LINUX)
    assert part.licence == "MIT"
    assert part.own_texts == ("site/own-1.0.dist-info/licenses/LICENSE", "site/own/NOTICE.txt")


def test_a_wheel_without_a_licence_or_its_text_stops_the_build(cache: Path) -> None:
    silent = add(cache, "silent", "License: as is\n", ("{information}/LICENSE",))
    with pytest.raises(LicenceError, match=r"silent 1.0 lacks a licence"):
        parts(Inputs((silent,), ()), Target.LINUX)
    textless = add(cache, "textless", "License-Expression: MIT\n")
    with pytest.raises(LicenceError, match="lacks its text"):
        parts(Inputs((textless,), ()), Target.LINUX)


def test_tools_of_the_build_are_no_parts() -> None:
    tool = File("ziglang", "1", "https://host/a.whl", 1, "d" * 64, LINUX)
    assert parts(Inputs((), (tool,)), Target.LINUX) == []


def test_every_pinned_part_of_linux_has_a_licence_and_its_text() -> None:
    """The installed distributions are those of the lock, save for their builds."""
    document = msgspec.toml.decode((Path(licences.__file__).parent / "licences.toml").read_bytes())
    reviewed = {entry["name"]: entry for entry in document["parts"]}
    inputs = read_inputs()
    for wheel in inputs.wheels_for(Target.LINUX):
        entry = reviewed.get(wheel.name, {})
        stated = metadata(wheel.name).json.get("license_expression")
        assert entry.get("licence") or stated, wheel.name
    files = {file.name for file in inputs.files}
    assert files <= reviewed.keys() | set(document["tools"])


def test_every_text_that_is_named_is_there() -> None:
    folder = Path(licences.__file__).parent
    document = msgspec.toml.decode((folder / "licences.toml").read_bytes())
    named = {text for entry in document["parts"] for text in entry.get("texts", ())}
    assert named == {path.stem for path in (folder / "licence_texts").iterdir()}


def test_the_folder_of_licences_names_every_text(tmp_path: Path) -> None:
    (tmp_path / "site" / "numpy").mkdir(parents=True)
    (tmp_path / "site" / "numpy" / "LICENSE").write_text("text")
    qt = Part(WHEEL, "LGPL-3.0-only", (), ("LGPL-3.0", "GPL-3.0"), "https://host/sources")
    write_licences(tmp_path, [PART, qt])
    overview = (tmp_path / FOLDER / OVERVIEW).read_text()
    assert "site/numpy/LICENSE" in overview
    assert "Sources: https://host/sources" in overview
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (tmp_path / FOLDER / "LGPL-3.0.txt").read_text()


def test_a_text_that_was_trimmed_away_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(LicenceError, match="site/numpy/LICENSE"):
        write_licences(tmp_path, [PART])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Installers of version 1.2 for two systems."""
    folder = tmp_path / "release"
    folder.mkdir()
    for name in ("safelight-1.2-linux-x86_64.tar.xz", "safelight-1.2-macos-arm64.dmg"):
        (folder / name).write_bytes(name.encode())
    return folder


@pytest.fixture
def inputs(cache: Path) -> Inputs:
    """One part that all systems have."""
    text = ("{information}/licenses/LICENSE",)
    file = add(cache, "own", "License-Expression: MIT\n", text)
    return Inputs((msgspec.structs.replace(file, targets=tuple(Target)),), ())


def test_a_release_has_a_list_for_each_system_and_hashes_of_all(
    folder: Path, inputs: Inputs
) -> None:
    make_release(folder, "1.2", inputs)
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert {"safelight-1.2-linux.cdx.json", "safelight-1.2-macos.cdx.json", PAGE} <= names
    assert "safelight-1.2-windows.cdx.json" not in names
    listed = [line.split("  ")[1] for line in (folder / CHECKSUMS).read_text().splitlines()]
    assert listed == sorted(names - {CHECKSUMS})


def test_whole_trees_are_offered_as_updates_by_those_who_have_the_key(
    folder: Path, inputs: Inputs, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    facts = {"version": "1.2", "target": "linux", "python": "3.13", "inputs": ""}
    (tree / "version.json").write_bytes(msgspec.json.encode(facts))
    archive = write_tar_xz(tree, folder / "safelight-1.2-linux-x86_64.tar.xz", "safelight")
    (folder / "safelight-1.2-macos-arm64.dmg").unlink()
    key = tmp_path / "key"
    public = make_key(key)
    make_release(folder, "1.2", inputs, [key])
    content = verified_content((folder / list_name(CHANNEL)).read_bytes(), (public,))
    (offered,) = read_list(content).releases
    assert offered.version == "1.2"
    assert [listed.name for listed in offered.archives] == [archive.name]
    assert list_name(CHANNEL) in (folder / CHECKSUMS).read_text()


def test_an_archive_that_is_no_tree_is_not_offered(
    folder: Path, inputs: Inputs, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    make_key(key)
    with tarfile.open(folder / "safelight-1.2-linux-x86_64.tar.xz", "w:xz"):
        pass
    with pytest.raises(BuildError, match=r"list of updates .* version\.json"):
        make_release(folder, "1.2", inputs, [key])


def test_sha256sum_accepts_the_hashes_and_sees_a_change(folder: Path) -> None:
    (folder / CHECKSUMS).write_text(checksums(folder))
    check = ["sha256sum", "--check", "--strict", CHECKSUMS]
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 0
    (folder / "safelight-1.2-macos-arm64.dmg").write_bytes(b"other")
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 1


def test_the_page_says_for_whom_each_file_is(folder: Path, inputs: Inputs) -> None:
    make_release(folder, "1.2", inputs)
    text = (folder / PAGE).read_text()
    assert "| `safelight-1.2-macos-arm64.dmg` | macOS 14 and newer, Apple silicon |" in text
    assert text.startswith("# Safelight 1.2\n")


def test_a_folder_with_another_version_is_refused(folder: Path) -> None:
    (folder / "safelight-1.1.deb").write_bytes(b"old")
    with pytest.raises(BuildError, match=r"safelight-1.1.deb"):
        make_release(folder, "1.2", Inputs((), ()))


def test_notes_are_the_version_s_section_of_the_changelog() -> None:
    changelog = (
        "# Changelog\n\n## Unreleased\n- next\n\n## [1.2] (2026-12-01)\n- this\n\n## 1.1\n- old\n"
    )
    assert notes_of("1.2", changelog) == "- this"
    assert notes_of("1.1", changelog) == "- old"
    assert notes_of("1.3", changelog) == "- next"
