"""Makes frozen/embedded.json: how tools arrange tokens and vectors, by their own functions.

    python -m tests.text.freeze_embedded A1111 COMFY

where A1111 is a checkout of AUTOMATIC1111/stable-diffusion-webui at commit 1bf01b73, and COMFY a
module with `SDTokenizer` and the functions it calls of ComfyUI's `comfy/sd1_clip.py` at commit
443393b4, whose constructor takes the tokenizer. torch may be absent.

For each prompt: token ids and weights of each chunk, and the vectors at its positions as
[position, name, index of the vector].
"""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false, reportOptionalMemberAccess=false

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

from engine.text.tokenizers import load_clip_tokenizer
from tests.text.embedded_cases import A1111, COMFY, EMBEDDINGS

FROZEN = Path(__file__).parent / "frozen" / "embedded.json"
TOKENIZER = load_clip_tokenizer()


def main(a1111: Path, comfy: Path) -> None:
    """Write the file."""
    frozen = {"a1111": by_a1111(a1111), "comfy": by_comfy(comfy)}
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def by_a1111(checkout: Path):
    """`tokenize_line`, and the vectors where `EmbeddingsWithFixes.forward` puts them."""
    torch = ModuleType("torch")
    vars(torch)["nn"] = SimpleNamespace(Module=object)
    package = ModuleType("modules")
    package.__path__ = [str(checkout / "modules")]
    sys.modules |= {"torch": torch, "modules": package}
    options = SimpleNamespace(emphasis="Original", comma_padding_backtrack=20)
    options.enable_emphasis = True
    stand_ins = {"shared": MagicMock(opts=options), "devices": MagicMock()}
    for name, module in {**stand_ins, "sd_hijack": MagicMock()}.items():
        sys.modules[f"modules.{name}"] = module
        setattr(package, name, module)
    sys.modules.setdefault("lark", MagicMock())
    hijack = importlib.import_module("modules.sd_hijack_clip")
    database = _database(checkout)
    model = hijack.FrozenCLIPEmbedderWithCustomWordsBase.__new__(
        hijack.FrozenCLIPEmbedderWithCustomWordsBase
    )
    model.chunk_length = 75
    model.hijack = SimpleNamespace(embedding_db=database)
    model.tokenize = lambda texts: [TOKENIZER.encode(text) for text in texts]
    model.comma_token, model.id_start = TOKENIZER.comma_id, TOKENIZER.start_id
    model.id_end = model.id_pad = TOKENIZER.end_id
    owner = SimpleNamespace(cond_stage_model=model)
    for name, count in EMBEDDINGS.items():
        vectors = SimpleNamespace(shape=(count, 768))
        entry = SimpleNamespace(name=name, vec=vectors, vectors=count)
        database.register_embedding(entry, owner)
    found = []
    for prompt in A1111:
        chunks, used = model.tokenize_line(prompt)
        rows = [
            {
                "ids": chunk.tokens,
                "weights": chunk.multipliers,
                "vectors": [
                    [offset + 1 + index, embedding.name, index]
                    for offset, embedding in chunk.fixes
                    for index in range(min(77 - offset - 1, embedding.vectors))
                ],
            }
            for chunk in chunks
        ]
        found.append({"used": used, "chunks": rows})
    return found


def _database(checkout: Path):
    """`EmbeddingDatabase`, whose module imports the rest of the program."""
    path = checkout / "modules" / "textual_inversion" / "textual_inversion.py"
    lines = path.read_text().split("\n")
    start = lines.index("class EmbeddingDatabase:")
    end = next(i for i in range(start, len(lines)) if lines[i].startswith("def create_embedding"))
    namespace: dict = {}
    exec("\n".join(lines[start:end]), namespace)
    return namespace["EmbeddingDatabase"]()


class _Vector(SimpleNamespace):
    """A vector of an embedding; `shape` is its width, and that of an array of its fellows."""


class _Vectors:
    def __init__(self, name: str, width: int) -> None:
        self.name, self.shape = name, (EMBEDDINGS[name], width)

    def __getitem__(self, index: int) -> _Vector:
        return _Vector(name=self.name, index=index, shape=(self.shape[1],))


def by_comfy(path: Path):
    """`tokenize_with_weights` and `process_tokens`: for the right width, and for another one."""
    spec = importlib.util.spec_from_file_location("comfy_sd1_clip", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # "embedding:" with no name is an error there.
    prompts = [prompt for prompt in COMFY if "embedding: " not in prompt]
    return {
        "fitting": [_comfy_row(module, prompt, 768) for prompt in prompts],
        "other": [_comfy_row(module, prompt, 1280) for prompt in prompts],
    }


def _comfy_row(module, prompt: str, width: int):
    def load(name, _folder, _size, _key):
        stem = name.removesuffix(".pt")
        return _Vectors(stem, 768) if stem in EMBEDDINGS else None

    module.load_embed = load
    tokenizer = module.SDTokenizer(_tokenize)
    rows = []
    for batch in tokenizer.tokenize_with_weights(prompt):
        tokens = [token for token, _ in batch]
        placed, _ = module.process_tokens_row(tokens, width, TOKENIZER.end_id, TOKENIZER.end_id)
        rows.append(
            {
                "ids": [0 if isinstance(token, _Vector) else token for token in placed],
                "weights": [weight for _, weight in batch],
                "vectors": [
                    [place, token.name, token.index]
                    for place, token in enumerate(placed)
                    if isinstance(token, _Vector)
                ],
            }
        )
    return {"chunks": rows}


def _tokenize(text: str):
    ids = [TOKENIZER.start_id, *TOKENIZER.encode(text), TOKENIZER.end_id]
    return {"input_ids": ids}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
