"""The folders that settings of other programs name, as those programs write them."""

import json
from pathlib import Path

import pytest

from app.library.tool_settings import folders_in_paths_file, folders_in_settings

EXTRA_PATHS = """\
#Rename this to extra_model_paths.yaml and ComfyUI will load it
a111:
    base_path: {first}

    checkpoints: models/Stable-diffusion
    loras: |
         models/Lora
         models/LyCORIS
# other:
#     base_path: /commented/out
comfyui:
    is_default: true
    base_path: "{second}"
    checkpoints: models/checkpoints/
lone:
    loras: {third}
    vae: |
        {fourth}
"""

# As people write it: a comment that was the example, a variable, a line that goes on.
BATCH = """\
@echo off

set PYTHON=
set A1111_HOME=models of a1111
@REM set COMMANDLINE_ARGS=%COMMANDLINE_ARGS% ^
@REM  --ckpt-dir commented
rem set COMMANDLINE_ARGS=--lora-dir commented
set COMMANDLINE_ARGS=--api --forge-ref-a1111-home "%A1111_HOME%" --port 7861 ^
\t--ckpt-dir "AI Models/sd" --lora-dir=lora ^
    --esrgan-models-path '%~dp0up'
set "COMMANDLINE_ARGS=%COMMANDLINE_ARGS% --vae-dir vae"

call webui.bat
"""
SHELL = """\
#!/bin/bash
#export COMMANDLINE_ARGS="--ckpt-dir commented"
models="/data/models"
export COMMANDLINE_ARGS="--xformers --ckpt-dir $models/sd --lora-dir '/data/lo ra' \\
  --vae-dir=${models}/vae --text-encoder-dir \\"te x\\""
#export install_dir="/home"
"""


def test_whole_paths_beside_a_base_are_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISK", str(tmp_path / "disk"))
    base, other, more = tmp_path / "disk/base", tmp_path / "other", tmp_path / "more"
    text = (
        f"a:\n  checkpoints: {other}\n  base_path: $DISK/base/\n  loras: models/loras\n"
        f"  vae: |\n    {more}\n    {base}/models/vae\n"
    )
    assert folders_in_paths_file(text, tmp_path) == (base, other, more)
    assert folders_in_paths_file("a:\n  base_path: ~nobody-of-this-name/x", tmp_path) == (
        tmp_path / "~nobody-of-this-name/x",
    )


def test_folders_without_a_base_and_on_a_whole_disk_are_read_each(tmp_path: Path) -> None:
    """Nobody's models are all of a disk."""
    disk = Path(tmp_path.anchor)
    below = (tmp_path / "a").relative_to(disk), (tmp_path / "b").relative_to(disk)
    text = f"a:\n  base_path: {disk}\n  checkpoints: {below[0]}\n  loras: |\n    {below[1]}\n"
    assert folders_in_paths_file(text, tmp_path) == (tmp_path / "a", tmp_path / "b")
    text = "b:\n  is_default: true\n  loras: ../shared/lora\n  custom_nodes: nodes\n"
    assert folders_in_paths_file(text, tmp_path) == (tmp_path / "../shared/lora",)


def test_the_file_of_extra_paths_is_read_as_comfyui_documents_it(tmp_path: Path) -> None:
    first, second, third, fourth = (tmp_path / name for name in ("one", "two", "three", "four"))
    text = EXTRA_PATHS.format(first=first, second=second, third=third, fourth=fourth)
    assert folders_in_paths_file(text, tmp_path) == (first, second, third, fourth)
    assert folders_in_paths_file("a:\n  base_path: ../other", tmp_path) == (tmp_path / "../other",)
    assert folders_in_paths_file("\x00: [\n- ][", tmp_path) == ()
    marked = f"\ufeffa:\n  base_path: {first}\n"
    (tmp_path / "extra_model_paths.yaml").write_text(marked, encoding="utf-8")
    assert folders_in_settings(tmp_path) == (first,)


def test_folders_among_the_arguments_of_a_batch_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "webui-user.bat").write_text(BATCH, newline="\r\n")
    names = ("models of a1111", "AI Models/sd", "lora", "up", "vae")
    assert folders_in_settings(tmp_path) == tuple(tmp_path / name for name in names)


def test_folders_among_the_arguments_of_a_shell_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "webui-user.sh").write_text(SHELL)
    whole = ("/data/models/sd", "/data/lo ra", "/data/models/vae")
    assert folders_in_settings(tmp_path) == (*map(Path, whole), tmp_path / "te x")


@pytest.mark.parametrize(
    ("file", "fields", "names"),
    [
        # Fooocus' keys are strings or lists; SD.Next's are paths in its own folder or elsewhere.
        (
            "config.txt",
            {"path_checkpoints": ["a", "b"], "path_loras": "c", "path_outputs": "d", "path_vae": 5},
            ("a", "b", "c"),
        ),
        (
            "config.json",
            {"models_dir": "a", "ckpt_dir": "b/c", "vae_dir": None, "outdir_samples": "d"},
            ("a", "b/c"),
        ),
        ("settings.json", {"ModelDirectoryOverride": "a", "Theme": "Dark"}, ("a",)),
    ],
)
def test_folders_in_json_settings_are_read(
    tmp_path: Path, file: str, fields: dict[str, object], names: tuple[str, ...]
) -> None:
    (tmp_path / file).write_text(json.dumps(fields))
    assert folders_in_settings(tmp_path) == tuple(tmp_path / name for name in names)


def test_swarmui_and_invokeai_name_their_roots_by_a_line(tmp_path: Path) -> None:
    (tmp_path / "Data").mkdir()
    lines = "#Paths\nPaths:\n\t#Where models are.\n\tModelRoot: Models;/more/models\nLogs:\n"
    (tmp_path / "Data" / "Settings.fds").write_text(lines)
    (tmp_path / "invokeai.yaml").write_text("schema_version: 4.0.2\n\nmodels_dir: 'D M'\n")
    assert folders_in_settings(tmp_path) == (
        tmp_path / "Models",
        Path("/more/models"),
        tmp_path / "D M",
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"{", b"[" * 5000, b'{"ckpt_dir": {"a": 1}}', b"COMMANDLINE_ARGS="],
)
def test_settings_that_cannot_be_read_name_nothing(tmp_path: Path, content: bytes) -> None:
    for name in ("config.json", "config.txt", "webui-user.bat", "webui-user.sh", "invokeai.yaml"):
        (tmp_path / name).write_bytes(content)
    assert folders_in_settings(tmp_path) == ()
