"""Embeddings in files of tensors: safetensors, and PyTorch's read by `engine.checkpoints`.

Layouts: A1111's `string_to_param` (`modules/textual_inversion/textual_inversion.py`), kohya's
`emb_params`, SDXL's `clip_l` and `clip_g`, diffusers' concepts, which are tensors by their words
(`loaders/textual_inversion.py`), and lists of such (`comfy/sd1_clip.py`, `load_embed`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from engine.api.sentences import sentence
from engine.checkpoints.faults import unreadable
from engine.checkpoints.files import read_index
from engine.checkpoints.full_hash import hash_file
from engine.checkpoints.index import TensorIndex
from engine.embeddings.embedding import ANY, CLIP_G, CLIP_L, Embedding
from engine.embeddings.faults import damaged, no_embedding
from engine.embeddings.pictures import read_picture

# The suffixes that A1111 and ComfyUI look for, in ComfyUI's order.
WEIGHT_SUFFIXES = (".safetensors", ".pt", ".bin")
PICTURE_SUFFIXES = (".png", ".webp")
# The file's name in a folder that diffusers' scripts write; the folder then has the name.
LEARNED = "learned_embeds"
# A file with more is a LoRA or a checkpoint.
_MOST_TENSORS = 64
# Far more than any tool trains: a chunk of a prompt has room for 75.
_MOST_VECTORS = 4096
_WIDTHS = range(8, 16_385)
_FLOATS = {DType.F64, DType.F32, DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2}
_A1111 = "string_to_param."
# The ends of OneTrainer's keys for vectors that are added to a text encoder's results.
_OF_RESULTS = ("clip_l_out", "clip_g_out", "clip_h_out")
_LORA_SIGNS = ("lora_", "hada_", "lokr_", ".lora.", "bundle_emb.")

ReadIndex = Callable[[Path], TensorIndex]


def read_embeddings(path: Path, read: ReadIndex = read_index) -> tuple[Embedding, ...]:
    """Return the embeddings of a file, at least one; the first is the one of the file's name.

    A file of several concepts has one for each of its words. Raises EngineError: the file is
    missing, unreadable, damaged, refused as a program, or no embedding.
    """
    if path.suffix.lower() in PICTURE_SUFFIXES:
        found = (read_picture(path, name_of(path)),)
    else:
        found = _of_index(read(path))
    try:
        whole = hash_file(path, lambda _: None).whole
    except OSError as error:
        raise unreadable(path, error) from error
    return tuple(msgspec.structs.replace(embedding, path=path, sha256=whole) for embedding in found)


def bundled(name: str, tensors: Mapping[str, FileSlice]) -> Embedding:
    """Return an embedding that another file bundles, from the tensors of its own file's keys.

    Raises EngineError where they are damaged.
    """
    path = next(iter(tensors.values())).path
    return _of_tensors(path, name, tensors, {})[0]


def name_of(path: Path) -> str:
    """Return the name of the embedding in a file of tensors, as prompts have it."""
    return path.parent.name if path.stem == LEARNED else path.stem


def _of_index(index: TensorIndex) -> tuple[Embedding, ...]:
    if len(index.tensors) > _MOST_TENSORS or any(
        sign in name for name in index.tensors for sign in _LORA_SIGNS
    ):
        raise no_embedding(
            index.path, sentence("it holds {count:,} weights of networks", count=len(index.tensors))
        )
    return _of_tensors(index.path, name_of(index.path), index.tensors, index.metadata)


def _of_tensors(
    path: Path, name: str, tensors: Mapping[str, FileSlice], facts: Mapping[str, str]
) -> tuple[Embedding, ...]:
    labelled = {key: tensors[key] for key in (CLIP_L, CLIP_G) if key in tensors}
    listed = [key for key in tensors if key.partition(".")[0].isdecimal()]
    trained = next((key for key in tensors if key.startswith(_A1111)), None)
    single = trained or ("emb_params" if "emb_params" in tensors else None)
    if single is not None:
        vectors = {ANY: _numbers(tensors[single], path)}
        # A1111's own files name the trained word, which diffusers uses.
        token = facts.get("name", "") if trained else ""
        return (_checked(Embedding(name, vectors, path, token), facts),)
    if labelled:
        vectors = {key: _numbers(tensor, path) for key, tensor in labelled.items()}
        return (_checked(Embedding(name, vectors, path), facts),)
    if any(key.endswith(_OF_RESULTS) for key in tensors):
        raise no_embedding(
            path,
            sentence(
                "its vectors belong to the text encoder's results, not to its words "
                "(OneTrainer's output embedding)"
            ),
        )
    if listed and len(listed) == len(tensors):
        return (_checked(_joined(name, tensors, path), facts),)
    concepts = {key: tensor for key, tensor in tensors.items() if tensor.dtype in _FLOATS}
    if not concepts:
        raise no_embedding(path, sentence("it holds no vectors"))
    return tuple(
        _checked(Embedding(name, {ANY: _numbers(tensor, path)}, path, _word(key)), facts)
        for key, tensor in concepts.items()
    )


def _word(key: str) -> str:
    """Return the key of a concept if it is a word that diffusers reads in prompts."""
    return key if key.startswith("<") and key.endswith(">") else ""


def _joined(name: str, tensors: Mapping[str, FileSlice], path: Path) -> Embedding:
    """Join the vectors of a list by width: a list has an entry for each encoder or each word."""
    by_width: dict[int, list[Array]] = {}
    # The entries of a list come in another order from a reader of dictionaries.
    for key in sorted(tensors, key=lambda key: int(key.partition(".")[0])):
        vectors = _numbers(tensors[key], path)
        by_width.setdefault(vectors.shape[1], []).append(vectors)
    joined = {width: np.concatenate(parts) for width, parts in by_width.items()}
    if len(joined) == 1:
        return Embedding(name, {ANY: next(iter(joined.values()))}, path)
    ordered = [joined[width] for width in sorted(joined)]
    if len(ordered) > 2:
        raise no_embedding(path, sentence("it holds vectors of {count} widths", count=len(ordered)))
    return Embedding(name, {CLIP_L: ordered[0], CLIP_G: ordered[1]}, path)


def _numbers(tensor: FileSlice, path: Path) -> Array:
    """Return a tensor's vectors: float32 [count, width], or one vector [width] as [1, width]."""
    shape = tensor.shape if len(tensor.shape) == 2 else (1, *tensor.shape)
    if len(shape) != 2 or tensor.dtype not in _FLOATS:
        raise no_embedding(path, sentence("a tensor has the shape {list}", list=list(tensor.shape)))
    if not 0 < shape[0] <= _MOST_VECTORS or shape[1] not in _WIDTHS:
        raise no_embedding(path, sentence("a tensor has the shape {list}", list=list(tensor.shape)))
    try:
        with tensor.path.open("rb") as file:
            file.seek(tensor.offset)
            stored = file.read(tensor.nbytes)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(stored) != tensor.nbytes:
        raise damaged(path, sentence("it became shorter while it was read"))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.frombuffer(stored, tensor.dtype.numpy).astype(np.float32).reshape(shape)


def _checked(embedding: Embedding, facts: Mapping[str, str]) -> Embedding:
    """Return the embedding with the facts that its file tells, once its numbers are sound."""
    path = embedding.path or Path(embedding.name)
    if len({len(tensor) for tensor in embedding.tensors.values()}) > 1:
        raise damaged(path, sentence("its text encoders have different numbers of vectors"))
    if not all(np.isfinite(tensor).all() for tensor in embedding.tensors.values()):
        raise damaged(path, sentence("some of its numbers are not finite"))
    steps = facts.get("step", "")
    return msgspec.structs.replace(
        embedding,
        steps=int(steps) if steps.isdecimal() and len(steps) < 10 else None,
        trained_on=facts.get("sd_checkpoint_name", ""),
    )
