"""SDXL's ControlNet and union once at full size, from files of random weights that both read."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import gc
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(3600)]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from backends.base import Array, DType  # noqa: E402
from engine.api.preprocessors import ControlKind  # noqa: E402
from engine.control.kinds import UNION_KINDS  # noqa: E402
from engine.control.model import control_model  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.families import identify  # noqa: E402
from engine.graphs.unet import size_embedding  # noqa: E402
from tests.checkpoints.files import header, write_sparse  # noqa: E402
from tests.families import listings  # noqa: E402
from tests.oracle.networks import normal  # noqa: E402
from tests.oracle.test_full_size import SIDE, TIME, WAVES, check, run_ours  # noqa: E402

POOLED, SIZES = 1280, tuple(float(100 * n) for n in range(6))
SDXL = {
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": WAVES,
    "attention_head_dim": [5, 10, 20],
    "block_out_channels": [320, 640, 1280],
    "cross_attention_dim": 2048,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "projection_class_embeddings_input_dim": POOLED + len(SIZES) * WAVES,
    "transformer_layers_per_block": [1, 2, 10],
    "use_linear_projection": True,
}
KINDS = {
    "ControlNet": (diffusers.ControlNetModel, {}, ()),
    "union": (
        diffusers.ControlNetUnionModel,
        {"num_control_type": 8},
        (ControlKind.DEPTH, ControlKind.TILE),
    ),
}


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """pytest keeps folders for a while, and these files are large."""
    yield
    gc.collect()
    shutil.rmtree(tmp_path)


def write_network(folder: Path, kind: Any, sizes: dict[str, Any]) -> Path:
    """Write a network as diffusers saves it; weights are drawn one at a time."""
    folder.mkdir()
    with torch.device("meta"):
        module = kind(**sizes)
    listing = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    (folder / "config.json").write_text(json.dumps({"_class_name": kind.__name__, **sizes}))
    raw, _ = header(listing, DType.F32)
    random = np.random.default_rng(0)
    with (folder / "diffusion_pytorch_model.safetensors").open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for name, shape in listing.items():
            file.write(drawn(random, name, shape).tobytes())
    return folder


def drawn(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    """A weight as a network is initialised, also where a new ControlNet has zeros."""
    made = random.standard_normal(shape, np.float32)
    if len(shape) > 1:
        return made / np.float32(np.sqrt(np.prod(shape[1:])))
    is_scale = "norm" in name or ".ln_" in name
    return made * np.float32(0.1) + np.float32(is_scale and name.endswith("weight"))


@pytest.mark.parametrize("name", KINDS)
def test_a_full_size_network_equals_diffusers(tmp_path: Path, name: str) -> None:
    kind, more, kinds = KINDS[name]
    folder = write_network(tmp_path / "network", kind, SDXL | more)
    weights = [0.8, 0.6][: len(kinds)]
    maps = np.random.default_rng(5).random((max(1, len(kinds)), 3, SIDE, SIDE), np.float32)
    sample, context = normal(1, 4, SIDE // 8, SIDE // 8), normal(2, 77, 2048, seed=1)
    pooled = normal(2, POOLED, seed=2)

    told: dict[str, Any] = {"controlnet_cond": torch.from_numpy(maps)}
    if kinds:
        numbers = [UNION_KINDS[map_kind] for map_kind in kinds]
        types = torch.zeros(2, more["num_control_type"])
        types[:, numbers] = 1
        told = {
            "controlnet_cond": list(torch.from_numpy(maps)[:, None].repeat(1, 2, 1, 1, 1)),
            "control_type": types,
            "control_type_idx": numbers,
            "conditioning_scale": weights,
        }
    ids = {"text_embeds": torch.from_numpy(pooled), "time_ids": torch.tensor([SIZES] * 2)}
    module = kind.from_pretrained(folder).eval()
    with torch.no_grad():
        both = torch.from_numpy(np.concatenate([sample, sample]))
        given = both, torch.tensor(TIME), torch.from_numpy(context)
        found = module(*given, **told, added_cond_kwargs=ids)
    expected = [*found.down_block_res_samples, found.mid_block_res_sample]
    del module
    gc.collect()

    checkpoint = identify(write_sparse(tmp_path / "whole.safetensors", listings.sdxl()))
    model = control_model(read_control_network(folder), checkpoint)
    embedding = model.embedding(SIDE, SIDE, maps=len(maps))
    assert embedding is not None
    embedded = run_ours(tmp_path, embedding, {"map": maps, **model.map_inputs(kinds, weights)})
    waves = [size_embedding(SIZES, WAVES)] * 2
    feeds = {
        "sample": sample,
        "timestep_embedding": size_embedding([TIME], 320)[None],
        "context": context,
        "added": np.concatenate([pooled, waves], axis=1).astype(np.float32),
        **embedded,
        **model.step_inputs(kinds),
    }
    network = model.denoising(SIDE, SIDE)
    assert network is not None
    made = run_ours(tmp_path, network, feeds)
    assert len(made) == len(expected)
    for place, theirs in enumerate(expected):
        check(made[f"control.{place}"], theirs.numpy())
