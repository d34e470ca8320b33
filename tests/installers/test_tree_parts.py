"""Steps of building a tree: unpacking, leaving out, compiling, packing."""

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from installers import bytecode, wheels
from installers.archives import write_tar_xz, write_zip
from installers.bytecode import Compilation
from installers.inputs import Target
from installers.sizes import measured, part_of
from installers.tree import REPOSITORY, is_shipped
from installers.trimming import Entry, TrimError, dropped, read_trim, trim
from installers.wheels import WheelError


def wheel(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def files_in(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in paths}


def test_a_wheel_keeps_packages_names_and_licences(tmp_path: Path):
    path = wheel(
        tmp_path / "a.whl",
        "a/__init__.py", "a-1.data/purelib/b.py", "a-1.data/scripts/a", "a-1.dist-info/METADATA",
        "a-1.dist-info/RECORD", "a-1.dist-info/licenses/LICENSE",
    )  # fmt: skip
    wheels.unpack([path], tmp_path / "site")
    kept = {"a/__init__.py", "b.py", "a-1.dist-info/METADATA", "a-1.dist-info/licenses/LICENSE"}
    assert files_in(tmp_path / "site") == kept


@pytest.mark.parametrize(
    "name", ["../a.py", "/a.py", "a/../../b.py", "a-1.data/purelib/../../../b"]
)
def test_a_wheel_whose_file_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str):
    with pytest.raises(WheelError, match="leads out"):
        wheels.unpack([wheel(tmp_path / "a.whl", name)], tmp_path / "site")


def test_two_wheels_with_the_same_file_are_refused(tmp_path: Path):
    both = [wheel(tmp_path / "a.whl", "a.py"), wheel(tmp_path / "b.whl", "a.py")]
    with pytest.raises(WheelError, match="another wheel"):
        wheels.unpack(both, tmp_path / "site")


def test_dropped_files_fit_a_pattern_of_their_system():
    paths = ["site/a/x.py", "site/a/tests/t.py", "site/b/tests/t.py"]
    entries = [Entry("site/a", "tests", (Target.LINUX,), drop=("tests/*",))]
    assert dropped(paths, entries, Target.LINUX) == {"site/a/tests/t.py"}
    assert dropped(paths, entries, Target.MACOS) == set()


def test_kept_patterns_leave_out_everything_else():
    paths = ["site/a/x.py", "site/a/y.py", "site/b.py"]
    assert dropped(paths, [Entry("site/a", "", keep=("x.py",))], Target.LINUX) == {"site/a/y.py"}


def test_a_pattern_that_fits_nothing_stops_the_build():
    with pytest.raises(TrimError, match="tests"):
        dropped(["site/a/x.py"], [Entry("site/a", "", drop=("tests/*",))], Target.LINUX)


def test_trimming_removes_folders_that_get_empty(tmp_path: Path):
    (tmp_path / "site/a/tests").mkdir(parents=True)
    (tmp_path / "site/a/tests/t.py").write_text("1")
    (tmp_path / "site/a/x.py").write_text("22")
    assert trim(tmp_path, [Entry("site/a", "", drop=("tests/*",))], Target.LINUX) == 1
    assert [path.name for path in (tmp_path / "site/a").iterdir()] == ["x.py"]


def test_every_entry_of_the_reviewed_list_says_why():
    trimmed = read_trim()
    assert all(len(entry.reason) > 10 for entry in (*trimmed.entries, *trimmed.distributions))


def test_pillow_keeps_every_format_that_is_read_and_avif_goes_whole():
    """The form asks for the decoder of AVIF, and Pillow for the module that knows its files."""
    entries = [entry for entry in read_trim().entries if entry.of == "site/PIL"]
    gone = {pattern for entry in entries for pattern in entry.drop}
    formats = ("Png", "Jpeg", "WebP", "Gif")
    assert not gone & {f"{name}ImagePlugin.py" for name in formats}
    assert ("_avif.*" in gone) == ("AvifImagePlugin.py" in gone)


def test_a_tree_has_the_starters_files_and_none_of_its_programs():
    files = [path.relative_to(REPOSITORY) for path in (REPOSITORY / "starter").rglob("*.*")]
    shipped = {path.relative_to("starter").as_posix() for path in files if is_shipped(path)}
    assert {path for path in shipped if path.endswith(".py")} == {"__init__.py"}
    assert {"safelight-starter/model_index.json", "words.txt", "postcards/boat.webp"} <= shipped


def test_compiled_modules_run_without_sources_and_keep_wanted_docstrings(tmp_path: Path):
    for name in ("own", "foreign", "library"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text('"""Text."""\nprint(repr(__doc__))\n')
    (tmp_path / "library" / "os.py").write_text("")
    order = Compilation(
        documented=("own",), instead=("foreign",), packed=("library",), archives=("library.zip",)
    )
    bytecode.compile_all(tmp_path, order, Path(sys.executable))
    assert files_in(tmp_path) == {
        "own/own.pyc",
        "foreign/foreign.pyc",
        "library/os.pyc",
        "library.zip",
    }
    program = "import sys; sys.path[:0] = sys.argv[1:]; import own, foreign, library"
    folders = [str(tmp_path / name) for name in ("own", "foreign", "library.zip")]
    done = subprocess.run(
        [sys.executable, "-c", program, *folders], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["'Text.'", "''", "''"]


def test_packages_of_a_bundle_are_imported_and_keep_their_data(tmp_path: Path):
    package = tmp_path / "lib" / "space" / "own"
    (package / "inner").mkdir(parents=True)
    reads = "import importlib.resources as r; print((r.files(__name__) / 'a.txt').read_text())"
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text(f'"""Text."""\n{reads}\nprint(repr(__doc__))\n')
    (package / "inner" / "a.txt").write_text("data")
    (tmp_path / "lib" / "other.py").write_text("")
    order = Compilation(bundles={"lib/all.zip": ("lib/space/own",)}, instead=("lib",))
    bytecode.compile_all(tmp_path, order, Path(sys.executable))
    assert files_in(tmp_path) == {"lib/all.zip", "lib/other.pyc"}
    assert not package.exists()
    program = "import sys; sys.path.insert(0, sys.argv[1]); import space.own.inner"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "lib/all.zip")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["data", "''"]


def test_a_module_with_an_error_stops_the_build(tmp_path: Path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("def")
    with pytest.raises(bytecode.BytecodeError, match=r"lib/a\.py"):
        bytecode.compile_all(tmp_path, Compilation(documented=("lib",)), Path(sys.executable))


@pytest.mark.parametrize("write", [write_tar_xz, write_zip])
def test_archives_of_equal_files_are_equal(tmp_path: Path, write: object):
    assert callable(write)
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        names = ("b", "a") if name == "one" else ("a", "b")
        for file in names:
            (folder / file).write_text(file)
        (folder / "a").chmod(0o700 if name == "one" else 0o755)
        write(folder, tmp_path / f"{name}.archive", "top")
    assert (tmp_path / "one.archive").read_bytes() == (tmp_path / "two.archive").read_bytes()


def test_a_tar_archive_belongs_to_root_and_keeps_what_runs(tmp_path: Path):
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "run").write_text("")
    (folder / "run").chmod(0o711)
    archive = write_tar_xz(folder, tmp_path / "a.tar.xz", "top").read_bytes()
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        entry = packed.getmember("top/run")
    assert (entry.uname, entry.uid, entry.mode) == ("root", 0, 0o755)


def test_sizes_count_blocks_by_part(tmp_path: Path):
    for name in ("runtime/a", "site/PySide6/b", "site/c", "lib/starter/d", "safelight"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    sizes = measured(tmp_path)
    assert sizes.parts["Qt"] == sizes.parts["starter model"] == 4096
    assert sizes.total == 5 * 4096
    assert part_of("lib/app/cli.pyc") == "Safelight"
