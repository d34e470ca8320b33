"""Mach-O files are read, thinned, and their libraries followed as macOS does."""

from pathlib import Path

import pytest

from installers.macos.bundle import link_frameworks
from installers.macos.libraries import problems
from installers.macos.mach_o import MachOError, is_mach_o, mach_o_files, slices, thin
from tests.installers.mach_o_samples import X86_64, Sample, fat

QT = "site/PySide6/Qt/lib/QtCore.framework/Versions/A/QtCore"
QT_NAME = "@rpath/QtCore.framework/Versions/A/QtCore"


def write(bundle: Path, name: str, content: bytes) -> Path:
    path = bundle / "Contents" / "Resources" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_library_tells_its_needs_and_not_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "a.dylib"
    sample = Sample(
        libraries=(QT_NAME, "/usr/lib/libz.1.dylib"),
        weak_libraries=("/usr/lib/libmaybe.dylib",),
        rpaths=("@loader_path/Qt/lib",),
        minimum_system=(12, 3),
    )
    path.write_bytes(sample.to_bytes())
    (code,) = slices(path)
    assert code.architecture == "arm64"
    assert code.libraries == (QT_NAME, "/usr/lib/libz.1.dylib")
    assert code.rpaths == ("@loader_path/Qt/lib",)
    assert code.minimum_system == (12, 3)
    assert code.signed


def test_thinning_leaves_the_bytes_of_one_processor(tmp_path: Path) -> None:
    wanted, other = Sample().to_bytes(), Sample(X86_64).to_bytes()
    path = tmp_path / "a.dylib"
    path.write_bytes(fat(other, wanted))
    assert [code.architecture for code in slices(path)] == ["x86_64", "arm64"]
    before = path.stat().st_size
    assert thin(path, "arm64") == before - len(wanted)
    assert path.read_bytes() == wanted
    assert thin(path, "arm64") == 0


def test_thinning_refuses_a_file_without_the_processor(tmp_path: Path) -> None:
    path = tmp_path / "a.dylib"
    path.write_bytes(Sample(X86_64).to_bytes())
    with pytest.raises(MachOError, match=r"x86_64, not for arm64"):
        thin(path, "arm64")


def test_a_class_of_java_is_no_fat_file(tmp_path: Path) -> None:
    path = tmp_path / "A.class"
    path.write_bytes(bytes.fromhex("cafebabe00000034") + bytes(100))
    assert not is_mach_o(path)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle with a library that needs another by its rpath, and one of the system's."""
    app = tmp_path / "Safelight.app"
    needs = (QT_NAME, "/System/Library/Frameworks/AppKit.framework/Versions/C/AppKit")
    module = Sample(libraries=needs, rpaths=("@loader_path/Qt/lib",))
    write(app, "site/PySide6/QtCore.abi3.so", module.to_bytes())
    write(app, QT, Sample().to_bytes())
    return app


def test_a_complete_bundle_has_no_problems(bundle: Path) -> None:
    assert problems(bundle, "arm64") == []


def test_a_library_that_is_gone_is_named_with_who_needs_it(bundle: Path) -> None:
    (bundle / "Contents" / "Resources" / QT).unlink()
    (problem,) = problems(bundle, "arm64")
    assert problem.startswith("Contents/Resources/site/PySide6/QtCore.abi3.so needs " + QT_NAME)


@pytest.mark.parametrize(
    "name",
    [
        "/opt/homebrew/opt/libiodbc/lib/libiodbc.2.dylib",
        "/usr/lib/libthat_is_not_in_macos.dylib",
        "/System/Library/PrivateFrameworks/Secret.framework/Secret",
        "@loader_path/../../../../../../outside.dylib",
        "@executable_path/missing.dylib",
    ],
)
def test_a_library_outside_the_bundle_and_the_system_is_refused(bundle: Path, name: str) -> None:
    (bundle.parent / "outside.dylib").write_bytes(Sample().to_bytes())
    write(bundle, "site/foreign/a.so", Sample(libraries=(name,)).to_bytes())
    (problem,) = problems(bundle, "arm64")
    assert name in problem


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (Sample(signed=False), "signature"),
        (Sample(minimum_system=(15, 0)), r"needs macOS 15.0"),
        (Sample(X86_64), "not for arm64"),
    ],
)
def test_code_that_macos_14_on_apple_silicon_refuses_is_named(
    bundle: Path, sample: Sample, said: str
) -> None:
    write(bundle, "site/numpy/a.so", sample.to_bytes())
    (problem,) = problems(bundle, "arm64")
    assert "site/numpy/a.so" in problem
    assert said in problem


def test_code_that_signing_would_pass_over_is_named(bundle: Path) -> None:
    write(bundle, "site/numpy/no_ending", Sample().to_bytes())
    (problem,) = problems(bundle, "arm64")
    assert "site/numpy/no_ending" in problem


def test_frameworks_get_the_links_that_wheels_lack(bundle: Path) -> None:
    resources = bundle / "Contents" / "Resources"
    framework = (resources / QT).parents[2]
    write(bundle, f"{QT}/../Resources/Info.plist".replace("QtCore/../", ""), b"plist")
    (framework / "Resources").mkdir()
    (framework / "Resources" / "Info.plist").write_bytes(b"plist")
    link_frameworks(resources)
    assert (framework / "Versions" / "Current").readlink() == Path("A")
    assert (framework / "QtCore").readlink() == Path("Versions/Current/QtCore")
    assert (framework / "Resources").readlink() == Path("Versions/Current/Resources")
    # A link is no second library to be signed or thinned.
    assert [path.name for path in mach_o_files(framework)] == ["QtCore"]
