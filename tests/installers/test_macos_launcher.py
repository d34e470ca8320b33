"""The launcher of macOS, compiled for this system with its one call of macOS' own replaced."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from installers.macos import launcher

SOURCE = Path(launcher.__file__).with_name("launcher.c")
LIBRARY = Path(
    sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY") or "none"
)
NAME = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Linux tells a program's path in another way; the rest of the launcher is the same.
HEADER = """
#include <stdint.h>
#include <unistd.h>
static int _NSGetExecutablePath(char *path, uint32_t *size)
{
    ssize_t length = readlink("/proc/self/exe", path, *size - 1);
    if (length > 0) path[length] = 0;
    return length <= 0;
}
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc") or LIBRARY.suffix != ".so",
    reason="needs Linux, a C compiler and an interpreter that is a library",
)


def compile_here(target: Path, headers: Path, *options: str) -> None:
    (headers / "mach-o").mkdir(exist_ok=True, parents=True)
    (headers / "mach-o" / "dyld.h").write_text(HEADER)
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-D_GNU_SOURCE", "-I", str(headers), f'-DPYTHON="{NAME}"', *options]
    subprocess.run(["cc", *flags, "-o", str(target), str(SOURCE), "-ldl"], check=True)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose path has a space, with this interpreter and a start of our code that tells."""
    folder = tmp_path_factory.mktemp("with space é")
    app, headers = folder / "Safelight.app", folder / "headers"
    runtime = app / "Contents" / "Resources" / "runtime"
    (runtime / "lib").mkdir(parents=True)
    (runtime / "lib" / f"lib{NAME}.dylib").symlink_to(LIBRARY)
    modules = runtime / "lib" / NAME
    modules.mkdir()
    for path in Path(sysconfig.get_path("stdlib")).iterdir():
        if path.name != "site-packages":
            (modules / path.name).symlink_to(path)
    (modules / "site-packages").mkdir()
    (modules / "site-packages" / "safelight_launcher.py").write_text(
        "import os, sys\n"
        "def main():\n"
        "    print(os.readlink('/proc/self/exe'), sys.executable, sys.prefix, sys.argv[1:],\n"
        "          sys.flags.isolated, sys.flags.utf8_mode, sep='\\n')\n"
        "    sys.exit(7)\n"
    )
    runner = folder / "osascript"
    runner.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 1\n')
    runner.chmod(0o755)
    alert = f'-DSCRIPT_RUNNER="{runner}"'
    compile_here(app / "Contents" / "MacOS" / "Safelight", headers, alert)
    compile_here(runtime / "bin" / NAME, headers, "-DINTERPRETER")
    return app


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def test_the_window_runs_in_the_process_that_is_in_the_bundle(bundle: Path) -> None:
    executable = bundle / "Contents" / "MacOS" / "Safelight"
    runtime = bundle / "Contents" / "Resources" / "runtime"
    done = run(executable)
    assert done.returncode == 7, done.stderr
    running, interpreter, prefix, arguments, isolated, utf8 = done.stdout.splitlines()
    assert running == str(executable)
    assert interpreter == str(runtime / "bin" / NAME)
    assert prefix == str(runtime)
    assert (arguments, isolated, utf8) == ("[]", "1", "1")


def test_the_command_line_runs_in_the_interpreter(bundle: Path) -> None:
    done = run(bundle / "Contents" / "MacOS" / "Safelight", "generate", "a red house")
    running, *_, arguments, isolated, _ = done.stdout.splitlines()
    assert running == str(bundle / "Contents" / "Resources" / "runtime" / "bin" / NAME)
    assert (arguments, isolated) == ("['generate', 'a red house']", "1")
    assert done.returncode == 7


def test_the_interpreter_is_a_python_for_our_child_processes(bundle: Path) -> None:
    interpreter = bundle / "Contents" / "Resources" / "runtime" / "bin" / NAME
    done = run(interpreter, "-I", "-c", "import ssl, sys; print(sys.executable, sys.argv)", "x")
    assert done.stdout == f"{interpreter} ['-c', 'x']\n"
    assert done.stderr == ""


def test_a_link_to_the_launcher_starts_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    link = tmp_path / "safelight"
    link.symlink_to(bundle / "Contents" / "MacOS" / "Safelight")
    assert str(bundle / "Contents" / "Resources" / "runtime") in run(link).stdout


def test_a_missing_library_is_named(bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "Safelight.app"
    shutil.copytree(bundle, broken, symlinks=True)
    (broken / "Contents" / "Resources" / "runtime" / "lib" / f"lib{NAME}.dylib").unlink()
    done = run(broken / "Contents" / "MacOS" / "Safelight")
    assert done.returncode == 1
    message = f"runtime/lib/lib{NAME}.dylib cannot be used"
    assert message in done.stderr
    # Nobody reads the error stream of a window.
    *script, said, hint = done.stdout.splitlines()
    assert 'display alert "Safelight" message said as critical' in script
    assert message in said
    assert "Install Safelight again" in hint
