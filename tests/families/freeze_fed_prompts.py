"""Makes frozen/fed_prompts.json: what ComfyUI's own code gives T5, Qwen3 and denoisers for texts.

    python -m tests.families.freeze_fed_prompts COMFY

in an environment with torch and transformers, where COMFY is a checkout of
https://github.com/comfyanonymous/ComfyUI at 4b1444fc7a7d1dc542020f509dab2e2b90a4f16a. Its
tokenizers and text models run as they are, with its own vocabularies; T5's is read as transformers
4 reads it. Where a network would run, what it is given is noted. Digests by family, in the order of
`fed_prompts.texts`.
"""
# pyright: basic, reportMissingImports=false

import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

from tests.families.fed_prompts import FedPrompt, texts
from tests.text.freeze_t5_rows import read_tokenizer

FROZEN = Path(__file__).parent / "frozen" / "fed_prompts.json"
_LEAST_FLUX2 = 512


def main(checkout: Path) -> None:
    """Write the file."""
    readers = comfy_readers(checkout)
    frozen = {name: [read(text).digest for text in texts()] for name, read in readers.items()}
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def comfy_readers(checkout: Path) -> dict[str, Callable[[str], FedPrompt]]:
    """Return for each family what ComfyUI reads a text as."""
    _import(checkout)
    module = importlib.import_module
    flux, pixart, sd3, zimage = (
        module(f"comfy.text_encoders.{name}")
        for name in ("flux", "pixart_t5", "sd3_clip", "z_image")
    )
    return {
        "flux": _reader(flux.T5XXLTokenizer(), sd3.T5XXLModel),
        "sd3": _reader(sd3.T5XXLTokenizer(), sd3.T5XXLModel),
        # `comfy.sd` takes PixArt's for Chroma.
        "chroma": _reader(pixart.PixArtTokenizer(), pixart.T5XXLModel),
        "zimage": _reader(zimage.ZImageTokenizer(), zimage.Qwen3_4BModel),
        "flux2": _reader(flux.KleinTokenizer(), flux.Qwen3_4BModel, least=_LEAST_FLUX2),
    }


def _import(checkout: Path) -> None:
    """Make ComfyUI's modules importable, with stand-ins for those that run networks."""
    import torch

    for name in ("comfy", "comfy.text_encoders"):
        package = types.ModuleType(name)
        package.__path__ = [str(checkout / name.replace(".", "/"))]
        sys.modules[name] = package
    vars(sys.modules["comfy"])["text_encoders"] = sys.modules["comfy.text_encoders"]
    absent = ("ops", "clip_model", "utils", "model_management")
    for name in (*absent, "text_encoders.t5", "text_encoders.llama"):
        stand_in = sys.modules[f"comfy.{name}"] = MagicMock()
        folder, _, own = f"comfy.{name}".rpartition(".")
        setattr(sys.modules[folder], own, stand_in)
    management = sys.modules["comfy.model_management"]
    management.intermediate_device.return_value = torch.device("cpu")
    clip = importlib.import_module("comfy.sd1_clip")
    clip.SDClipModel.__init__ = _noting
    clip.SDClipModel.encode = _encode
    path = checkout / "comfy" / "text_encoders" / "t5_tokenizer" / "tokenizer.json"
    by_four = types.SimpleNamespace(from_pretrained=lambda _: read_tokenizer(path))
    for name in ("flux", "sd3_clip", "pixart_t5"):
        vars(importlib.import_module(f"comfy.text_encoders.{name}"))["T5TokenizerFast"] = by_four


def _noting(model, special_tokens, enable_attention_masks=False, **_) -> None:
    import torch

    torch.nn.Module.__init__(model)
    model.special_tokens, model.masked = special_tokens, enable_attention_masks
    model.transformer = MagicMock()
    table = lambda ids, out_dtype: torch.zeros(*ids.shape, 1)  # noqa: E731
    model.transformer.get_input_embeddings.return_value = table


def _encode(model, tokens):
    import torch

    states, mask, _, _ = model.process_tokens(tokens, torch.device("cpu"))
    seen = mask.sum(1).tolist() if model.masked else [len(row) for row in tokens]
    model.noted = tokens, seen
    return states, None, {"attention_mask": mask} if model.masked else {}


def _reader(tokenizer, kind, least: int = 0) -> Callable[[str], FedPrompt]:
    model = kind()

    def read(text: str) -> FedPrompt:
        found = tokenizer.tokenize_with_weights(text)
        pairs = next(iter(found.values())) if isinstance(found, dict) else found
        states, _, extra = model.encode_token_weights(pairs)
        rows, seen = model.noted
        # FLUX.2's states all go to the denoiser, which Z-Image's mask hides some of.
        hides = "attention_mask" in extra and not least
        attended = int(extra["attention_mask"].sum()) if hides else max(least, states.shape[1])
        if hides:
            rows = [row[:count] for row, count in zip(rows, seen, strict=True)]
        (row,) = pairs
        return FedPrompt(rows, seen, attended, [weight for _, weight in row[: len(rows[0])]])

    return read


if __name__ == "__main__":
    main(Path(sys.argv[1]))
