"""The folders of other programs are found where they usually lie, and none elsewhere."""

import json
import os
import sys
from pathlib import Path

import pytest

from app.library.tool_folders import ToolFolder, find_tools


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


@pytest.mark.parametrize(
    ("place", "tool"),
    [
        ("Fooocus", "Fooocus"),
        ("Downloads/Fooocus_win64_2-5-0/Fooocus", "Fooocus"),
        ("sdnext", "SD.Next"),
        ("git/sd-webui-forge-neo", "Stable Diffusion WebUI Forge Neo"),
        (".local/share/krita/ai_diffusion/server/models", "Krita AI Diffusion"),
    ],
)
def test_programs_are_found_where_their_pages_say_to_put_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, tool: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    folder = tmp_path / place
    with_model(folder if folder.name == "models" else folder / "models" / "loras")
    assert find_tools(tmp_path, [], {}) == (ToolFolder(tool, folder, 1),)


def test_folders_that_a_webui_is_started_with_are_found(tmp_path: Path) -> None:
    webui, disk = tmp_path / "stable-diffusion-webui", tmp_path / "disk"
    webui.mkdir()
    for name in ("ckpt", "lora"):
        with_model(disk / name)
    (webui / "webui-user.sh").write_text(
        f'export COMMANDLINE_ARGS="--ckpt-dir {disk}/ckpt --lora-dir {disk}/lora"\n'
    )
    assert find_tools(tmp_path, [], {}) == (
        ToolFolder("Stable Diffusion WebUI", disk / "ckpt", 1),
        ToolFolder("Stable Diffusion WebUI", disk / "lora", 1),
    )


def test_a_home_is_nobodys_folder_of_models(tmp_path: Path) -> None:
    comfy = tmp_path / "ComfyUI"
    with_model(comfy / "models" / "vae")
    with_model(tmp_path / "Pictures")
    (comfy / "extra_model_paths.yaml").write_text(f"mine:\n  base_path: {tmp_path}\n")
    assert find_tools(tmp_path, [], {}) == (ToolFolder("ComfyUI", comfy, 1),)


def test_a_folder_within_another_that_is_offered_is_not_offered_twice(tmp_path: Path) -> None:
    webui, comfy = tmp_path / "stable-diffusion-webui", tmp_path / "ComfyUI"
    webui.mkdir()
    inner = with_model(comfy / "models" / "checkpoints")
    (webui / "webui-user.sh").write_text(f'COMMANDLINE_ARGS="--ckpt-dir {inner}"\n')
    assert find_tools(tmp_path, [], {}) == (ToolFolder("ComfyUI", comfy, 1),)
    assert find_tools(tmp_path, [comfy], {}) == ()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_folder_with_two_names_is_offered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On macOS `comfyui` is `ComfyUI`, too, and a path stays as it is written."""
    with_model(tmp_path / "ComfyUI" / "models")
    (tmp_path / "comfyui").symlink_to(tmp_path / "ComfyUI")

    def as_written(path: Path, **_: bool) -> Path:
        return path

    monkeypatch.setattr(Path, "resolve", as_written)
    assert find_tools(tmp_path, [], {}) == (ToolFolder("ComfyUI", tmp_path / "ComfyUI", 1),)


@pytest.mark.parametrize(
    ("system", "settings"),
    [("linux", ".config"), ("darwin", "Library/Application Support"), ("win32", "roaming")],
)
def test_stability_matrix_says_where_its_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, settings: str
) -> None:
    library = tmp_path / "disk" / "Library"
    with_model(library / "Models" / "StableDiffusion")
    file = tmp_path / settings / "StabilityMatrix" / "library.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"LibraryPath": str(library)}))
    monkeypatch.setattr(sys, "platform", system)
    found = find_tools(tmp_path, [], {"APPDATA": str(tmp_path / "roaming")})
    assert found == (ToolFolder("Stability Matrix", library / "Models", 1),)


def test_swarmui_says_where_its_models_are(tmp_path: Path) -> None:
    models = tmp_path / "disk" / "models"
    with_model(models / "Stable-Diffusion")
    settings = tmp_path / "SwarmUI" / "Data" / "Settings.fds"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"Paths:\n\tModelRoot: {models}\n\tSDLoraFolder: Lora\n")
    assert find_tools(tmp_path, [], {}) == (ToolFolder("SwarmUI", models, 1),)
