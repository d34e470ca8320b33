"""The things in the monkey's folder: files to open and drop, texts to paste."""

import random
from pathlib import Path

from PIL import Image

from app.paths import starter_checkpoint
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.known_hardware import write_verdicts
from tests.checkpoints.files import write_sparse
from tests.hostile_texts import PIECES
from tests.jobs.test_lora_index import KEYS
from tests.metadata.records import PLAIN

WORDS = (
    "a red house by the sea at night", "yellow balloon", "castle, mountains, dusk", "boat",
    "(two trees:1.3)", "a __colour__ flower", "{moon|sun}", "masterpiece", "256", "0.5", "12",
)  # fmt: skip
_LARGE = 100_000
PASTED = (
    "שלום עולם a house ‮ backwards ‬ مرحبا",
    "👩‍👩‍👧‍👦🏳️‍🌈 a boat 🚣🏽‍♀️ e̶̡̢̛͉͓̯̠̰̯͈͕̩̖ Z̴̨̛a̷l̶g̷o̴",
    "<b>bold</b><img src=x><a href='file:///etc/passwd'>link</a>",
    "line\r\nline\u2028paragraph\u2029 \x00\x1b[31m\x7f end",
    "house, " * (_LARGE // 7),
    "a" * _LARGE,
    "((((" * (_LARGE // 4),
    "{a|" * 5000,
    "-1e309", "99999999999999999999", "٣٤", "",
)  # fmt: skip


def fill(folder: Path, seed: int) -> list[Path]:
    """Write what the application finds at its start; return files that may be opened."""
    choose = random.Random(seed)
    write_verdicts(folder / "cache")
    (folder / "models" / "Lora").mkdir(parents=True)
    (folder / "wildcards").mkdir()
    (folder / "wildcards" / "colour.txt").write_text("red\nblue\nyellow\n")
    for name in ("ink wash", "pixel art"):
        write_sparse(folder / "models" / "Lora" / f"{name}.safetensors", KEYS)
    _write_models(folder / "models")
    for number in range(40):
        picture = folder / "output" / f"2026-01-{number % 28 + 1:02}" / f"early {number}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        _write_picture(picture, choose)
    return _write_things(folder / "things", choose)


def _write_models(models: Path) -> None:
    (models / "web page.safetensors").write_text("<!doctype html><html>not found</html>")
    (models / "nothing.safetensors").touch()
    (models / "cut.ckpt").write_bytes(b"PK\x03\x04cut")
    starter = starter_checkpoint()
    if starter.is_dir():
        # A folder of the user's own, which may be renamed and thrown away.
        _copy(starter, models / "my starter")


def _copy(source: Path, to: Path) -> None:
    for file in source.rglob("*"):
        if file.is_file():
            copy = to / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())


def _write_picture(path: Path, choose: random.Random) -> None:
    colour = tuple(choose.randrange(256) for _ in range(3))
    Image.new("RGB", (choose.choice((64, 256, 800)), 256), colour).save(path)
    path.write_bytes(insert_text_chunks(path.read_bytes(), record_chunks(PLAIN)))


def _write_things(folder: Path, choose: random.Random) -> list[Path]:
    folder.mkdir()
    _write_picture(folder / "plain.png", choose)
    whole = (folder / "plain.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.png").touch()
    (folder / "שלום ‮gnp.png").write_bytes(whole)
    (folder / "<b>new\nline.png").write_bytes(whole)
    (folder / "notes.txt").write_text(PASTED[0])
    (folder / f"{'l' * 200}.webp").write_bytes(b"RIFF0000WEBP")
    (folder / "hostile.txt").write_text("".join(PIECES))
    Image.new("RGB", (3000, 2000), "teal").save(folder / "large.jpg")
    Image.new("L", (256, 256), 255).save(folder / "mask.png")
    Image.new("RGBA", (200, 300), (10, 200, 90, 100)).save(folder / "clear.webp")
    write_sparse(folder / "charcoal.safetensors", KEYS)
    (folder / "a folder").mkdir()
    return sorted(folder.iterdir())
