"""The bundle has what macOS asks for; signing gives rights to the interpreter alone."""

import io
import os
import plistlib
import subprocess
import sys
import tarfile
from pathlib import Path

import msgspec
import pytest

import installers.macos.bundle as bundle_module
import ui.languages
from app.installation import faults
from installers.file_list import write_file_list
from installers.inputs import InputError, Inputs, Target, read_inputs, sha256
from installers.macos.bundle import IDENTIFIER, info_plist, make_bundle
from installers.macos.interpreter import ARCHIVE, newest_archive, place_interpreter

MACOS = Path(bundle_module.__file__).parent
# Each notes its name and arguments, as the tools of a Mac would be called; and a signature becomes
# a part of the file.
TOOLS = ("codesign", "xcrun", "ditto", "hdiutil")
NOTE = """#!/bin/sh
printf "%s" "$(basename "$0")" >> "$CALLS"
printf "|%s" "$@" >> "$CALLS"
echo >> "$CALLS"
for last; do true; done
if [ -f "$last" ] && [ "$1" = --force ]; then echo signature >> "$last"; fi
"""


def test_info_plist_names_executable_icon_version_and_system() -> None:
    content = plistlib.loads(info_plist("1.2.3"))
    assert content["CFBundleExecutable"] == "Safelight"
    assert content["CFBundleShortVersionString"] == content["CFBundleVersion"] == "1.2.3"
    assert content["LSMinimumSystemVersion"] == "14.0"
    assert content["NSHighResolutionCapable"] is True
    assert content["CFBundlePackageType"] == "APPL"


def test_info_plist_names_the_languages_of_the_window() -> None:
    catalogues = {path.stem for path in (Path(ui.languages.__file__).parent).glob("*.ts")}
    assert catalogues
    assert set(plistlib.loads(info_plist("1"))["CFBundleLocalizations"]) == {"en", *catalogues}


def test_info_plist_declares_each_type_of_its_documents_that_macos_does_not_know() -> None:
    content = plistlib.loads(info_plist("1"))
    taken = {
        kind
        for document_type in content["CFBundleDocumentTypes"]
        for kind in document_type["LSItemContentTypes"]
    }
    declared = {
        declaration["UTTypeIdentifier"]: declaration["UTTypeTagSpecification"][
            "public.filename-extension"
        ]
        for declaration in content["UTImportedTypeDeclarations"]
    }
    assert {kind for kind in taken if kind.startswith(IDENTIFIER)} == set(declared)
    assert sorted(ending for endings in declared.values() for ending in endings) == [
        "ckpt", "safetensors",
    ]  # fmt: skip
    assert all(
        document_type["LSHandlerRank"] == "Alternate"
        for document_type in content["CFBundleDocumentTypes"]
    )


def test_the_bundle_has_the_tree_as_resources_and_keeps_links(tmp_path: Path) -> None:
    tree, executable = tmp_path / "tree", tmp_path / "built"
    (tree / "lib").mkdir(parents=True)
    (tree / "lib" / "a.py").write_text("pass")
    (tree / "link").symlink_to("lib")
    executable.write_bytes(b"code")
    executable.chmod(0o755)
    contents = make_bundle(tree, executable, "1.0", tmp_path / "out") / "Contents"
    assert (contents / "Resources" / "lib" / "a.py").read_text() == "pass"
    assert (contents / "Resources" / "link").readlink() == Path("lib")
    assert os.access(contents / "MacOS" / "Safelight", os.X_OK)
    icon = plistlib.loads((contents / "Info.plist").read_bytes())["CFBundleIconFile"]
    assert (contents / "Resources" / icon).read_bytes().startswith(b"icns")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive laid out as python-build-standalone's, with a little of each kind of file."""
    path = tmp_path / "python.tar.gz"
    with tarfile.open(path, "w:gz") as writer:
        for name in (
            "bin/python3.13", "lib/libpython3.13.dylib", "lib/libtcl9.0.dylib", "include/Python.h",
            "lib/python3.13/os.py", "lib/python3.13/LICENSE.txt", "lib/python3.13/json/decoder.py",
            "lib/python3.13/test/test_os.py", "lib/python3.13/tkinter/__init__.py",
            "lib/python3.13/lib-dynload/_tkinter.cpython-313-darwin.so",
            "lib/python3.13/site-packages/pip/__init__.py", "lib/python3.13/json/__pycache__/a.pyc",
        ):  # fmt: skip
            member = tarfile.TarInfo(f"python/{name}")
            member.size = len(name)
            writer.addfile(member, io.BytesIO(name.encode()))
    return path


def pinning(archive: Path) -> Inputs:
    inputs = read_inputs()
    pin = msgspec.structs.replace(inputs.file(ARCHIVE), sha256=sha256(archive))
    return Inputs(inputs.wheels, (pin,))


def test_only_the_library_and_modules_in_use_are_taken_of_the_interpreter(
    archive: Path, tmp_path: Path
) -> None:
    runtime = tmp_path / "runtime"
    place_interpreter(runtime, pinning(archive), archive)
    files = {path.relative_to(runtime).as_posix() for path in runtime.rglob("*") if path.is_file()}
    assert files == {
        "lib/libpython3.13.dylib", "lib/python3.13/os.py", "lib/python3.13/LICENSE.txt",
        "lib/python3.13/json/decoder.py", "lib/python3.13/lib-dynload/README.txt",
    }  # fmt: skip


def test_an_interpreter_that_is_not_the_pinned_one_is_refused(
    archive: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="hash"):
        place_interpreter(tmp_path / "runtime", read_inputs(), archive)


def test_the_newest_interpreter_for_apple_silicon_is_pinned() -> None:
    names = [
        ("cpython-3.13.9+20260101-aarch64-apple-darwin-install_only_stripped.tar.gz", "a" * 64),
        ("cpython-3.13.10+20260202-aarch64-apple-darwin-install_only_stripped.tar.gz", "b" * 64),
        ("cpython-3.13.11+20260303-aarch64-apple-darwin-install_only_stripped.tar.gz", None),
        ("cpython-3.14.1+20260202-aarch64-apple-darwin-install_only_stripped.tar.gz", "c" * 64),
        ("cpython-3.13.12+20260202-x86_64-apple-darwin-install_only_stripped.tar.gz", "d" * 64),
    ]
    files = [{"filename": n, "sha256": s, "url": f"https://host/{n}"} for n, s in names]
    pinned = newest_archive(msgspec.json.encode([{"files": files, "python_version": {}}]))
    assert (pinned.version, pinned.sha256) == ("3.13.10+20260202", "b" * 64)
    assert pinned.targets == (Target.MACOS,)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A bundle with one file of each kind that is signed, and some that are not."""
    resources = tmp_path / "Safelight.app" / "Contents" / "Resources"
    for name in (
        "site/a b/x.so", "site/y.dylib", "site/QtCore.framework/Versions/A/QtCore",
        "runtime/bin/python3.13", "lib/code.py",
    ):  # fmt: skip
        (resources / name).parent.mkdir(parents=True, exist_ok=True)
        (resources / name).write_bytes(b"code")
    (resources / "runtime/bin/python3.13").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (resources / "runtime/bin/python3.13").chmod(0o755)
    (resources / "site/QtCore.framework/Versions/Current").symlink_to("A")
    return tmp_path / "Safelight.app"


def sign(app: Path, **variables: str) -> list[list[str]]:
    """Run sign.sh with tools that note how they are called; return the calls."""
    tools = app.parent / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).write_text(NOTE)
        (tools / name).chmod(0o755)
    calls = app.parent / "calls"
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(calls), **variables}
    command = ["sh", str(MACOS / "sign.sh"), str(app), str(app.parent / "Safelight.dmg")]
    subprocess.run(command, env=environment, check=True)
    return [line.split("|") for line in calls.read_text().splitlines()]


def test_signing_goes_from_the_inside_out_and_gives_rights_to_the_interpreter(app: Path) -> None:
    calls = sign(app, IDENTITY="Developer ID Application: Somebody (TEAM)")
    signed = [call for call in calls if call[:2] == ["codesign", "--force"]]
    places = [call[-1].partition("Contents/")[2] or Path(call[-1]).name for call in signed]
    assert sorted(places[:2]) == ["Resources/site/a b/x.so", "Resources/site/y.dylib"]
    assert places[2:] == [
        "Resources/site/QtCore.framework/Versions/A", "Resources/runtime/bin/python3.13",
        "Safelight.app", "Safelight.dmg",
    ]  # fmt: skip
    entitled = [
        place for place, call in zip(places, signed, strict=True) if "--entitlements" in call
    ]
    assert entitled == ["Resources/runtime/bin/python3.13"]
    assert all("runtime" in call and "--timestamp" in call for call in signed)
    assert not [call for call in calls if "notarytool" in call]


def test_a_bundle_for_nobody_has_no_hardened_runtime(app: Path) -> None:
    signed = [call for call in sign(app) if call[:2] == ["codesign", "--force"]]
    assert signed
    assert not [call for call in signed if "runtime" in call]
    assert all(call[call.index("--sign") + 1] == "-" for call in signed)


def test_bundle_and_image_are_notarised_and_stapled(app: Path) -> None:
    calls = sign(app, IDENTITY="Developer ID", PROFILE="notary")
    kinds = [call[1:3] for call in calls if call[0] == "xcrun"]
    assert kinds == [["notarytool", "submit"], ["stapler", "staple"]] * 2
    assert all("notary" in call for call in calls if "notarytool" in call)


def test_the_app_s_list_of_its_files_has_the_signed_ones(app: Path) -> None:
    resources = app / "Contents" / "Resources"
    write_file_list(resources)
    assert not list(faults(resources))
    sign(app)
    assert "signature" in (resources / "site/a b/x.so").read_text()
    assert not list(faults(resources))


def test_an_archive_for_updates_is_beside_the_image(app: Path) -> None:
    sign(app)
    with tarfile.open(app.parent / "Safelight.tar.xz") as archive:
        names = archive.getnames()
    assert "Safelight.app/Contents/Resources/lib/code.py" in names


def test_the_entitlements_let_packs_in_and_nothing_else() -> None:
    rights = plistlib.loads((MACOS / "engine.entitlements").read_bytes())
    assert rights == {"com.apple.security.cs.disable-library-validation": True}
