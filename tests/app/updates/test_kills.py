"""An update that is killed at any step leaves whole versions alone, and the old one starts."""

import subprocess
import sys
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from installers.update_manifest import public_key
from tests.app.updates.publishing import Publisher
from tests.app.updates.trees import NEW, ROOT, Home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked")
# A tree of a few files, so that there are few steps.
LAUNCHER = f"#!/bin/sh\necho safelight {NEW}\n"


def test_whatever_kills_an_update_leaves_whole_versions(
    home: Home, installed: Path, publisher: Publisher, key: SigningKey, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    (tree / "lib").mkdir(parents=True)
    (tree / "safelight").write_text(LAUNCHER)
    (tree / "safelight").chmod(0o755)
    (tree / "version.json").write_text(f'{{"version": "{NEW}", "target": "linux"}}')
    (tree / "lib" / "code.py").write_text("pass\n")
    (tree / "lib" / "link.py").symlink_to("code.py")
    publisher.publish_tree(tree)
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.app.updates.killed", home.versions, home.state, installed,
            publisher.folder, public_key(key),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    steps, _, rest = done.stdout.strip().partition(" ")
    assert rest == "steps", done.stdout + done.stderr
    assert int(steps) > 40
    assert home.started(installed) == [f"safelight {NEW}"]
