"""Presets of weights by block are found near the folders of LoRAs."""

from pathlib import Path

from engine.lora.preset_files import PresetTexts, preset_texts

EXTENSION = "extensions/sd-webui-lora-block-weight/scripts"


def test_presets_are_read_from_the_folder_and_from_a1111s_extension(tmp_path: Path) -> None:
    loras, scripts = tmp_path / "models" / "Lora", tmp_path / EXTENSION
    for folder, text in ((loras, "own"), (scripts, "extension")):
        folder.mkdir(parents=True)
        (folder / "lbwpresets.txt").write_text(text, encoding="utf-8-sig")
    (scripts / "elempresets.txt").write_text("elements", encoding="utf-8")
    assert preset_texts([loras]) == PresetTexts(("own", "extension"), ("elements",))


def test_files_that_are_no_texts_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "elempresets.txt").mkdir()
    (tmp_path / "lbwpresets.txt").write_bytes(b"A:\xff")
    assert preset_texts([tmp_path, tmp_path / "absent", Path("/")]) == PresetTexts()
    (tmp_path / "lbwpresets.txt").write_bytes(b"A" * (1 << 20) + b"A")
    assert preset_texts([tmp_path]) == PresetTexts()
