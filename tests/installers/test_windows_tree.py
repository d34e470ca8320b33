"""The Windows tree: launchers, the libraries that its files ask for, and the installer."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.versions.trees import tree_folder
from installers.inputs import Inputs, Target
from installers.system import Tree
from installers.windows import imports
from installers.windows.imports import ImportsError, require_resolved, unresolved
from installers.windows.installer import file_macros, longest_path, write_installer
from installers.windows.launcher import build_launchers, version_numbers

WINDOW, CONSOLE = 2, 3
COMPILER = "x86_64-w64-mingw32-gcc"
needs_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason="mingw-w64 is not installed")


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", (0, 1, 0, 0)), ("12.3", (12, 3, 0, 0)), ("1.2.3+local.4", (1, 2, 3, 0))],
)
def test_a_version_becomes_four_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert version_numbers(version) == numbers


@pytest.fixture(scope="module")
def launchers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launchers")
    build_launchers(folder, "1.2.3", "python313")
    return folder


@needs_compiler
def test_the_launchers_differ_in_the_console(launchers: Path) -> None:
    assert subsystem(launchers / "safelight.exe") == WINDOW
    assert subsystem(launchers / "safelight.com") == CONSOLE


def subsystem(path: Path) -> int:
    """Return the field of that name in a program's header (PE format, optional header)."""
    content = path.read_bytes()
    header = int.from_bytes(content[0x3C:0x40], "little")
    return int.from_bytes(content[header + 92 : header + 94], "little")


@needs_compiler
@pytest.mark.parametrize("name", ["safelight.exe", "safelight.com"])
def test_a_launcher_carries_version_icon_and_manifest(launchers: Path, name: str) -> None:
    content = (launchers / name).read_bytes()
    assert "1.2.3".encode("utf-16-le") in content
    for word in (b"longPathAware", b"PerMonitorV2", b"UTF-8</activeCodePage>", b"\x89PNG"):
        assert word in content


@needs_compiler
def test_the_same_source_gives_the_same_launchers(launchers: Path, tmp_path: Path) -> None:
    build_launchers(tmp_path, "1.2.3", "python313")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (launchers / path.name).read_bytes()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a program in `runtime` that asks for a library of another folder."""
    for folder in ("runtime", "site/other", "site/package/inner", "site/package.libs"):
        (tmp_path / folder).mkdir(parents=True)
    compile_c(tmp_path / "own.dll", "__declspec(dllexport) int own(void) { return 1; }", "-shared")
    compile_c(
        tmp_path / "asking.exe",
        "int own(void); int main(void) { return own(); }",
        str(tmp_path / "own.dll"),
    )
    return tmp_path


def compile_c(target: Path, source: str, *options: str) -> None:
    code = target.with_suffix(".c")
    code.write_text(source)
    subprocess.run([COMPILER, str(code), *options, "-o", str(target)], check=True)
    code.unlink()


@needs_compiler
@pytest.mark.parametrize(
    ("asking", "library", "found"),
    [
        ("site/other", "site/other", True),
        ("site/other", "runtime", True),
        ("site/package/inner", "site/package.libs", True),
        ("site/other", "site/package.libs", False),
        ("site/package/inner", "site/other", False),
    ],
)
def test_a_library_counts_where_windows_looks_for_it(
    tree: Path, asking: str, library: str, found: bool
) -> None:
    (tree / "asking.exe").rename(tree / asking / "asking.exe")
    (tree / "own.dll").rename(tree / library / "own.dll")
    assert list(unresolved(tree)) == ([] if found else [(f"{asking}/asking.exe", "own.dll")])


@needs_compiler
def test_a_library_that_is_nowhere_stops_the_build(tree: Path) -> None:
    (tree / "own.dll").unlink()
    with pytest.raises(ImportsError, match=r"asking\.exe asks for own\.dll"):
        require_resolved(tree)


def test_the_list_of_windows_libraries_holds_no_optional_runtime() -> None:
    for name in ("msvcp140", "vcruntime140", "vulkan-1", "opencl", "nvcuda", "d3dcompiler_47"):
        assert name not in imports.WINDOWS


@pytest.fixture
def files(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in ("site/b/deep file.py", "site/a.py", "safelight.exe"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return root


def test_the_installer_puts_every_file_of_the_tree_into_its_folder(files: Path) -> None:
    lines = [line.strip() for line in file_macros(files).splitlines()]
    assert lines[1:8] == [
        'SetOutPath "$INSTDIR\\new\\"',
        f'File "{files}/safelight.exe"',
        'SetOutPath "$INSTDIR\\new\\site"',
        f'File "{files}/site/a.py"',
        'SetOutPath "$INSTDIR\\new\\site\\b"',
        f'File "{files}/site/b/deep file.py"',
        "!macroend",
    ]


def test_the_uninstaller_removes_only_the_tops_of_the_tree(files: Path) -> None:
    removal = file_macros(files).split("!macro Remove")[1]
    assert 'RMDir /r "$INSTDIR\\site"' in removal
    assert 'Delete "$INSTDIR\\safelight.exe"' in removal
    assert 'RMDir /r "$INSTDIR"' not in removal


def test_the_longest_path_counts_the_folder_of_the_installation(files: Path) -> None:
    assert longest_path(files) == len("\\new\\site\\b\\deep file.py")


def test_the_uninstaller_waits_for_versions_where_they_lie(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that runs would else lose some of its files, and the others stay."""
    commands: list[list[str]] = []

    def note(command: list[str], **_options: object) -> None:
        commands.append(command)

    monkeypatch.setattr(subprocess, "run", note)
    tree = Tree(files, Target.WINDOWS, "1.2.3", Inputs((), ()))
    write_installer(tree, tmp_path)
    (command,) = commands
    script = Path(command[-1]).read_text(encoding="utf-8")
    for define in (argument for argument in command if argument.startswith("-D")):
        name, _, value = define.removeprefix("-D").partition("=")
        script = script.replace(f"${{{name}}}", value)
    waited = re.search(r'StrCpy \$R0 "\$LOCALAPPDATA\\(.*\$R2.*)"\s*Call un.WaitForEnd', script)
    assert waited is not None
    place = tree_folder(str(Path("safelight", "versions")), "$R2")
    assert waited[1].replace("\\", "/") == Path(place).as_posix()


@pytest.mark.skipif(not shutil.which("makensis"), reason="NSIS is not installed")
def test_the_same_tree_gives_the_same_installer(files: Path, tmp_path: Path) -> None:
    made: list[bytes] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (files / "safelight.exe").touch()
        tree = Tree(files, Target.WINDOWS, "1.2.3", Inputs((), ()))
        made.append(write_installer(tree, tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert made[0].startswith(b"MZ")
