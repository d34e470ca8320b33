"""Tells what files are for by their names and first bytes, without the engine."""

import re
import stat
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

from engine.api.model_files import MODEL_SUFFIXES
from engine.api.weight_suffixes import PYTORCH_SUFFIXES
from engine.folders import PIPELINE_FILE
from engine.regular_file import open_regular

# The bytes before a safetensors file's header are the header's length.
_LENGTH_BYTES = 8
# The engine refuses longer headers.
_MOST_BYTES = 16 << 20
# The ends of keys by which LoRA files of every trainer are recognised, in the header's JSON.
_KEYS = re.compile(
    rb'"[^"]{1,300}(?:'
    rb"[._]lora(?:_(?:down|up|A|B|linear_layer)|\.(?:down|up))\b"
    rb"|\.(?:hada_w1|lokr_w1|oft_blocks|oft_diag|on_input|dora_scale|a1\.weight|diff|set_weight)"
    rb"(?![A-Za-z0-9])"
    rb')[^"]{0,60}"\s*:'
)
# The names of an embedding's tensors as kohya, SDXL's trainers, A1111 and diffusers give them; such
# a file has few others.
_EMBEDDED = re.compile(
    rb'"(?:emb_params|clip_[lg]|string_to_param(?:\.[^"]{1,20})?|<[^"<>]{1,100}>)"\s*:\s*\{'
)
_EMBEDDING_BYTES = 20_000
# Keys of ControlNets of every layout, of LLLites and T2I-Adapters; of an autoencoder alone; and of
# the parts of a checkpoint.
_CONTROL = re.compile(
    rb'"(?:[^"]{0,40}\.)?(?:input_hint_block|controlnet_cond_embedding|controlnet_down_blocks'
    rb'|controlnet_blocks|controlnet_x_embedder|zero_convs)\.|"lllite_|"adapter\.body\.'
)
_VAE = re.compile(rb'"decoder\.(?:conv_in|conv1)\.')
_CHECKPOINT = re.compile(
    rb'"(?:model\.diffusion_model|first_stage_model|cond_stage_model|conditioner|text_encoders)\.'
)
# The first bytes of GGUF files, and of PyTorch's archives and pickles.
_MAGIC = (b"GGUF", b"PK\x03\x04", b"\x80")
# The parts of a diffusers folder of which any checkpoint has one.
_DENOISERS = ("unet", "transformer")


class FileKind(Enum):
    """The kind of a file that is no picture."""

    LORA = auto()
    EMBEDDING = auto()
    CONTROLNET = auto()
    VAE = auto()
    # A PyTorch file, which only the engine reads: it may be any kind.
    OPAQUE = auto()
    # A file with a header that is none of the above, and none of a whole checkpoint.
    UNTOLD = auto()
    # A folder that is no model itself: there may be models or pictures in it.
    FOLDER = auto()
    # A file that is for something else: neither its name nor its first bytes are those of weights.
    FOREIGN = auto()
    OTHER = auto()


def kind_of(path: Path) -> FileKind:
    """Return the kind of a file or folder; the header of safetensors is read. Never raises."""
    if path.suffix.lower() in PYTORCH_SUFFIXES:
        return FileKind.OPAQUE
    try:
        facts = path.stat()
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return FileKind.OTHER
    if stat.S_ISDIR(facts.st_mode):
        return FileKind.OTHER if _is_model(path) else FileKind.FOLDER
    if not stat.S_ISREG(facts.st_mode):
        return FileKind.OTHER
    return _kind_by_header(path, facts.st_size, facts.st_mtime_ns)


def _is_model(folder: Path) -> bool:
    """Return True for a folder that is a checkpoint, or a network with its configuration."""
    files = (PIPELINE_FILE, "config.json", *(f"{part}/config.json" for part in _DENOISERS))
    return any((folder / file).is_file() for file in files)


# A file that is dragged over the window is asked about at every move of the mouse.
@lru_cache(maxsize=4)
def _kind_by_header(path: Path, _size: int, _modified_ns: int) -> FileKind:
    header = _header(path)
    if not header and path.suffix.lower() not in MODEL_SUFFIXES and not _begins_as_weights(path):
        return FileKind.FOREIGN
    if _KEYS.search(header):
        return FileKind.LORA
    if len(header) <= _EMBEDDING_BYTES and _EMBEDDED.search(header):
        return FileKind.EMBEDDING
    return _kind_of_network(header)


def _kind_of_network(header: bytes) -> FileKind:
    """Return the kind of a file that is neither a LoRA nor an embedding."""
    if len(header) <= len(b"{}") or _CHECKPOINT.search(header):
        return FileKind.OTHER
    if _CONTROL.search(header):
        return FileKind.CONTROLNET
    return FileKind.VAE if _VAE.search(header) else FileKind.UNTOLD


def _header(path: Path) -> bytes:
    """Return the header of a safetensors file; empty for any other file."""
    try:
        with open_regular(path) as file:
            start = file.read(_LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            if len(start) < _LENGTH_BYTES or not 2 <= length <= _MOST_BYTES:
                return b""
            header = file.read(length)
    except OSError:
        return b""
    return header if header.startswith(b"{") else b""


def _begins_as_weights(path: Path) -> bool:
    """Return True for a file of weights by its first bytes, or one that cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(4).startswith(_MAGIC)
    except OSError:
        return True
