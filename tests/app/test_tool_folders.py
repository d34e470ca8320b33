"""The folders of other programs are found where they usually lie, and none elsewhere."""

import sys
from pathlib import Path

import pytest

from app.library.tool_folders import ToolFolder, find_tools, folders_in_paths_file

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


def with_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "a.safetensors").touch()
    return folder


def test_programs_are_found_with_the_number_of_their_files(tmp_path: Path) -> None:
    webui, comfy, invoke = (
        tmp_path / "stable-diffusion-webui",
        tmp_path / "AI/ComfyUI",
        tmp_path / "x",
    )
    with_model(webui / "models" / "Lora")
    with_model(webui / "embeddings")
    with_model(webui / "venv" / "lib")
    with_model(comfy / "models" / "vae")
    with_model(invoke / "models")
    (tmp_path / "easy-diffusion" / "models").mkdir(parents=True)
    assert find_tools(tmp_path, [], {"INVOKEAI_ROOT": str(invoke)}) == (
        ToolFolder("InvokeAI", invoke, 1),
        ToolFolder("Stable Diffusion WebUI", webui, 2),
        ToolFolder("ComfyUI", comfy, 1),
    )
    assert find_tools(tmp_path, [webui, invoke, comfy], {}) == ()


def test_folders_that_comfyui_is_told_of_are_found_with_it(tmp_path: Path) -> None:
    comfy, models = tmp_path / "ComfyUI", with_model(tmp_path / "disk" / "models")
    comfy.mkdir()
    (comfy / "extra_model_paths.yaml").write_text(f"mine:\n  base_path: {models.parent}\n")
    assert find_tools(tmp_path, [], {}) == (ToolFolder("ComfyUI", models.parent, 1),)


@pytest.mark.parametrize(
    ("place", "tool"),
    [
        # As the archives of A1111 and Forge for Windows unpack.
        ("sd.webui/webui", "Stable Diffusion WebUI"),
        ("Downloads/webui_forge_cu121_torch231/webui", "Stable Diffusion WebUI Forge"),
        ("stable-diffusion-webui-amdgpu", "Stable Diffusion WebUI"),
        # With an archive's own folder around what it unpacks.
        ("ComfyUI_windows_portable_nvidia/ComfyUI_windows_portable/ComfyUI", "ComfyUI"),
    ],
)
def test_programs_are_found_in_the_folders_of_their_archives(
    tmp_path: Path, place: str, tool: str
) -> None:
    with_model(tmp_path / place / "models" / "Lora")
    assert find_tools(tmp_path, [], {}) == (ToolFolder(tool, tmp_path / place, 1),)


def test_programs_with_models_under_a_capital_are_not_searched_through(tmp_path: Path) -> None:
    for name in ("SwarmUI", "StabilityMatrix/Data"):
        with_model(tmp_path / name / "Models" / "Lora")
        with_model(tmp_path / name / "dlbackend" / "venv")
    assert find_tools(tmp_path, [], {}) == (
        ToolFolder("SwarmUI", tmp_path / "SwarmUI/Models", 1),
        ToolFolder("Stability Matrix", tmp_path / "StabilityMatrix/Data/Models", 1),
    )


def test_comfyui_of_the_desktop_says_where_its_models_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "disk" / "Comfy"
    with_model(base / "models" / "loras")
    with_model(tmp_path / "resources" / "custom_nodes")
    text = (
        f"comfyui_desktop:\n  is_default: 'true'\n  base_path: {base}\n  loras: models/loras/\n"
        f"desktop_extensions:\n  custom_nodes: {tmp_path / 'resources/custom_nodes'}\n"
    )
    for system, place in (("win32", "roaming"), ("darwin", "Library/Application Support")):
        config = tmp_path / place / "ComfyUI" / "extra_models_config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(text)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", system)
            found = find_tools(tmp_path, [], {"APPDATA": str(tmp_path / "roaming")})
        assert found == (ToolFolder("ComfyUI", base, 1),)


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


def test_the_file_of_extra_paths_is_read_as_comfyui_documents_it(tmp_path: Path) -> None:
    first, second, third, fourth = (tmp_path / name for name in ("one", "two", "three", "four"))
    text = EXTRA_PATHS.format(first=first, second=second, third=third, fourth=fourth)
    assert folders_in_paths_file(text, tmp_path) == (first, second, third, fourth)
    assert folders_in_paths_file("a:\n  base_path: ../other", tmp_path) == (tmp_path / "../other",)
    assert folders_in_paths_file("\x00: [\n- ][", tmp_path) == ()
