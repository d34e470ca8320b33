"""Each command of a tree, beside the same command of the checkout that it was built from."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.cli import COMMANDS
from backends.base import Array, DType
from engine.checkpoints.safetensors import read_index
from installers.tree import REPOSITORY
from installers.tryout.program import Program, TryoutError
from tests.checkpoints.arrays import write_arrays
from tests.single_file import write_single_file

STARTER = REPOSITORY / "starter" / "safelight-starter"
_TORCH_FILES = REPOSITORY / "tests" / "checkpoints" / "frozen"
_READ = (".png", ".jpg", ".webp")
# Tags of EXIF: the directory of a camera's settings, and the comment in it.
_EXIF_DIRECTORY, _COMMENT = 0x8769, 0x9286
# Of 255. The checkout's NumPy may be another release, which rounds otherwise here and there.
_TOLERANCE = 2
_RANK = 4
_BENCH = ("--steps", "1", "--size", "64x64", "--backend", "cpu")


def pictures(tree: Program, checkout: Program) -> None:
    """Make a picture, and again from what is written in it and in copies of other formats."""
    made = tree.picture("made.png")
    same_picture(made, checkout.picture("made.png"))
    for path in (made, *_copies(made)):
        name, options = f"from-{path.suffix[1:]}.png", ("--from", str(path), "--backend", "cpu")
        for program in (tree, checkout):
            program.run("generate", *options, "--out", str(program.home / name))
        same_picture(tree.home / name, checkout.home / name)


def picture_to_picture(tree: Program, checkout: Program) -> None:
    """Start from pictures of each format, and with a mask."""
    source, mask = tree.home / "source", tree.home / "mask.png"
    ramp = np.linspace(0, 255, 128).astype(np.uint8)
    image = Image.fromarray(np.stack(np.broadcast_arrays(ramp, ramp[:, None], ramp[:1]), -1))
    Image.fromarray(np.tile(ramp, (128, 1))).save(mask)
    for suffix in _READ:
        path = source.with_suffix(suffix)
        image.save(path)
        options = ("--init", str(path), "--strength", "0.6", "--mask", str(mask))
        name = f"from-{suffix[1:]}.png"
        same_picture(tree.picture(name, *options), checkout.picture(name, *options))


def inspections(tree: Program, checkout: Program) -> None:
    """Inspect a folder, a .safetensors file, files of torch, and a LoRA."""
    single = write_single_file(tree.home / "single.safetensors")
    files = (STARTER, single, _lora(tree.home), *sorted(_TORCH_FILES.glob("*.*")))
    for path in files:
        results = [_inspection(program, path) for program in (tree, checkout)]
        _same(f"inspect {path.name}", *results)


def baking(tree: Program, checkout: Program) -> None:
    """Bake a LoRA into the starter, and use it for a picture."""
    arguments = ("bake", "--model", str(STARTER), "--lora", f"{_lora(tree.home)}:0.8", "--out")
    for program in (tree, checkout):
        program.run(*arguments, str(program.home / "baked"))
    baked = [
        {
            path.relative_to(program.home).as_posix(): path.read_bytes()
            for path in sorted((program.home / "baked").rglob("*.safetensors"))
        }
        for program in (tree, checkout)
    ]
    if not baked[0] or baked[0].keys() != baked[1].keys():
        raise TryoutError("bake wrote other files than the checkout's.")
    options = ("--model", str(tree.home / "baked"))
    same_picture(tree.picture("baked.png", *options), checkout.picture("baked.png", *options))


def listings(tree: Program, checkout: Program) -> None:
    """Ask for devices, models, packs, cached data, updates and speed, and clear the cache."""
    devices = tree.answer("devices")
    if not any(device["backend"] == "cpu" and device["usable"] for device in devices["devices"]):
        raise TryoutError("devices says that the processor cannot be used.")
    names = [[model["name"] for model in p.answer("models")["models"]] for p in (tree, checkout)]
    _same("models", *names)
    # Which packs there are; which of them fit depends on the release of Python.
    packs = [program.run("packs", "list").split("\n\n")[0] for program in (tree, checkout)]
    _same("packs list", *([line.split()[0] for line in text.splitlines()] for text in packs))
    for command in (("updates", "status"), ("cache", "list"), ("bench", *_BENCH)):
        _same(" ".join(command), *(_names(p.answer(*command)) for p in (tree, checkout)))
    tree.run("cache", "clear")


def doctor(tree: Program, checkout: Program) -> None:
    """Have the tree examine itself."""
    del checkout
    found = tree.answer("doctor")
    wrong = [f"{check['name']}: {check['detail']}" for check in found["checks"] if not check["ok"]]
    if wrong:
        raise TryoutError("doctor finds that something is wrong:\n" + "\n".join(wrong))


def engine(tree: Program, checkout: Program) -> None:
    """Start the engine; it greets, and ends when nobody speaks to it any more."""
    for program in (tree, checkout):
        _greeting(program)


def helps(tree: Program, checkout: Program) -> None:
    """Print the help of each command."""
    _same("--help", *(program.run("--help").split() for program in (tree, checkout)))
    for name in COMMANDS:
        # Python's releases break lines at other places.
        words = [program.run(name, "--help").split() for program in (tree, checkout)]
        _same(f"{name} --help", *words)


CHECKS: Mapping[str, Callable[[Program, Program], None]] = {
    "help": helps,
    "pictures": pictures,
    "pictures from pictures": picture_to_picture,
    "inspect": inspections,
    "bake": baking,
    "lists": listings,
    "doctor": doctor,
    "engine": engine,
}


def _copies(made: Path) -> list[Path]:
    """Save a picture as JPEG and WebP, with its settings where other tools write them."""
    with Image.open(made) as image:
        exif = Image.Exif()
        text = str(image.info["parameters"])
        exif.get_ifd(_EXIF_DIRECTORY)[_COMMENT] = b"UNICODE\0" + text.encode("utf-16-be")
        paths = [made.with_name("copy.jpg"), made.with_name("copy.webp")]
        for path in paths:
            image.save(path, exif=exif)
    return paths


def _greeting(program: Program) -> None:
    """Start an engine, wait for the beginning of its greeting, and close its input."""
    process = program.start("engine")
    assert process.stdout is not None
    if not process.stdout.read(1):
        raise TryoutError("The engine ended without a greeting.")
    program.end(process, "engine")


def _inspection(program: Program, path: Path) -> Any:
    process = program.start("inspect", str(path), "--json")
    out, errors = process.communicate()
    if process.returncode not in (0, 1) or "Traceback" in errors:
        raise TryoutError(f"inspect {path.name} ended with {process.returncode}:\n{errors}")
    return process.returncode, out, errors


def _lora(folder: Path) -> Path:
    """Write a LoRA for the starter: one layer of its denoiser, with random weights."""
    path = folder / "lora.safetensors"
    file = next((STARTER / "unet").glob("*.safetensors"))
    tensors = read_index(file).tensors
    layer = next(name for name in tensors if name.endswith("attn2.to_k.weight"))
    out, into = tensors[layer].shape
    name = "lora_unet_" + layer.removesuffix(".weight").replace(".", "_")
    random = np.random.default_rng(0)

    def numbers(*shape: int) -> Array:
        return random.standard_normal(shape).astype(np.float32) * 0.1

    arrays = {
        f"{name}.lora_down.weight": numbers(_RANK, into),
        f"{name}.lora_up.weight": numbers(out, _RANK),
    }
    write_arrays(path, arrays, DType.F16)
    return path


def _same(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise TryoutError(
            f"`safelight {what}` differs from the checkout's.\n"
            f"in the tree: {found}\nin the checkout: {wanted}"
        )


def same_picture(found: Path, wanted: Path) -> None:
    pixels = [np.asarray(Image.open(path).convert("RGB"), np.int16) for path in (found, wanted)]
    _same(f"generate {found.name} (its size)", pixels[0].shape, pixels[1].shape)
    furthest = int(np.abs(pixels[0] - pixels[1]).max())
    if furthest > _TOLERANCE:
        raise TryoutError(f"{found} differs from {wanted} by {furthest} of 255.")


def _names(answer: Mapping[str, Any]) -> list[str]:
    """Return the names in an answer, without the values, which differ from run to run."""
    return sorted(answer)
