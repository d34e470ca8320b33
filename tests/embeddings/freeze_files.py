"""Writes small embeddings as tools save them: `python -m tests.embeddings.freeze_files A1111`.

A1111 is a checkout of AUTOMATIC1111/stable-diffusion-webui at commit 1bf01b73, whose own functions
put an embedding into pictures. Runs where torch and safetensors are.

Every file has the vectors `VECTORS`, numbers that float16 has too.
"""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import torch
from PIL import Image, PngImagePlugin
from safetensors.torch import save_file

FROZEN = Path(__file__).parent / "frozen"
VECTORS = np.arange(-24, 24, dtype=np.float32).reshape(2, 24) / 32


def main(checkout: Path) -> None:
    """Write the files."""
    FROZEN.mkdir(exist_ok=True)
    vectors, wide = torch.from_numpy(VECTORS), torch.from_numpy(VECTORS.reshape(2, 24))
    a1111 = {
        "string_to_token": {"*": 265},
        "string_to_param": {"*": vectors},
        "name": "trained",
        "step": 1500,
        "sd_checkpoint": "abcdef0123",
        "sd_checkpoint_name": "a-model",
    }
    torch.save(a1111, FROZEN / "a1111.pt")
    torch.save({"<cat-toy>": vectors[0]}, FROZEN / "concept.bin")
    torch.save({"<cat>": vectors[0], "<hat>": vectors[1]}, FROZEN / "two_concepts.bin")
    torch.save([{"<s0>": vectors[0]}, {"<s1>": vectors[1]}], FROZEN / "list.bin")
    save_file({"emb_params": vectors.half()}, FROZEN / "emb_params.safetensors")
    save_file({"anything": vectors.bfloat16()}, FROZEN / "one_tensor.safetensors")
    both = {"clip_l": vectors, "clip_g": torch.cat([wide, wide], 1)}
    save_file(both, FROZEN / "sdxl.safetensors")
    write_pictures(checkout, a1111)


def write_pictures(checkout: Path, data: dict) -> None:
    """The embedding as text of a picture, in the pixels of one, and a picture without any."""
    package, shared = ModuleType("modules"), ModuleType("modules.shared")
    package.__path__ = [str(checkout / "modules")]
    vars(shared)["opts"] = SimpleNamespace(font=None)
    inversion = ModuleType("modules.textual_inversion")
    inversion.__path__ = [str(checkout / "modules" / "textual_inversion")]
    sys.modules |= {
        "modules": package, "modules.shared": shared, "modules.textual_inversion": inversion,
    }  # fmt: skip
    setattr(np, "product", np.prod)  # noqa: B010 (gone from NumPy 2)
    embed = importlib.import_module("modules.textual_inversion.image_embedding")
    ramp = np.arange(64 * 48 * 3, dtype=np.uint32).reshape(64, 48, 3)
    picture = Image.fromarray((1 + ramp % 255).astype(np.uint8))
    info = PngImagePlugin.PngInfo()
    info.add_text("sd-ti-embedding", embed.embedding_to_b64(data))
    picture.save(FROZEN / "text.png", pnginfo=info)
    embed.insert_image_data_embed(picture, data).save(FROZEN / "pixels.png")
    framed = Image.new("RGB", (100, 64))
    framed.paste(picture, (26, 0))
    framed.save(FROZEN / "no_embedding.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
