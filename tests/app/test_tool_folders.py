"""The folders of other programs are found where they usually lie, and none elsewhere."""

from pathlib import Path

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


def test_the_file_of_extra_paths_is_read_as_comfyui_documents_it(tmp_path: Path) -> None:
    first, second, third, fourth = (tmp_path / name for name in ("one", "two", "three", "four"))
    text = EXTRA_PATHS.format(first=first, second=second, third=third, fourth=fourth)
    assert folders_in_paths_file(text, tmp_path) == (first, second, third, fourth)
    assert folders_in_paths_file("a:\n  base_path: ../other", tmp_path) == (tmp_path / "../other",)
    assert folders_in_paths_file("\x00: [\n- ][", tmp_path) == ()
