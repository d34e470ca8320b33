"""LoRAs of Z-Image, FLUX.2 klein, Chroma and SD 3: layers by all names, pictures, and refusals."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array, DType, Precision
from backends.cpu import CpuBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.lora_rules import LoraRules
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode, SamplerName, ScheduleName
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify, supply
from engine.families.checkpoint import Component
from engine.families.lora_purpose import fit_lora
from engine.lora.file import read_lora
from engine.lora.folder import LoraLookup
from engine.lora.layers import LayerTable
from engine.pipeline.found_loras import use_of
from engine.pipeline.lora_patches import ActingLora
from engine.pipeline.loras import JobLoras, unapplied
from engine.weights.patched import PatchedWeight
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import write_gguf
from tests.families.flow_models import MODELS, WIDE, Written, write_parts
from tests.families.flux.files import drawn
from tests.families.gguf_parts import decibels, stored_as
from tests.pipeline.jobs import RESIDENCY, a_request, run
from tests.thinned import thinned

RANK = 4
# Flux.1's layers are in `tests/families/flux/test_lora_layers.py`.
FAMILIES = [family for family in MODELS if family != "flux1"]
# A layer in the original layout and in diffusers', without the prefixes of dialects.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "zimage": {
        "layers.0.attention.out": "layers.0.attention.to_out.0",
        "layers.0.feed_forward.w2": "layers.0.feed_forward.w2",
        "noise_refiner.0.adaLN_modulation.0": "noise_refiner.0.adaLN_modulation.0",
        "context_refiner.0.attention.out": "context_refiner.0.attention.to_out.0",
        "x_embedder": "all_x_embedder.2-1",
        "final_layer.linear": "all_final_layer.2-1.linear",
        "cap_embedder.1": "cap_embedder.1",
    },
    "flux2": {
        "double_blocks.0.txt_attn.proj": "transformer_blocks.0.attn.to_add_out",
        "double_blocks.0.img_mlp.0": "transformer_blocks.0.ff.linear_in",
        "single_blocks.0.linear1": "single_transformer_blocks.0.attn.to_qkv_mlp_proj",
        "single_blocks.0.linear2": "single_transformer_blocks.0.attn.to_out",
        "double_stream_modulation_img.lin": "double_stream_modulation_img.linear",
        "single_stream_modulation.lin": "single_stream_modulation.linear",
        "time_in.in_layer": "time_guidance_embed.timestep_embedder.linear_1",
        "img_in": "x_embedder",
        "final_layer.linear": "proj_out",
    },
    "chroma": {
        "double_blocks.0.img_attn.proj": "transformer_blocks.0.attn.to_out.0",
        "double_blocks.0.txt_mlp.2": "transformer_blocks.0.ff_context.net.2",
        "single_blocks.0.linear2": "single_transformer_blocks.0.proj_out",
        "distilled_guidance_layer.layers.0.in_layer": "distilled_guidance_layer.layers.0.linear_1",
        "distilled_guidance_layer.in_proj": "distilled_guidance_layer.in_proj",
        "txt_in": "context_embedder",
    },
    "sd3": {
        "joint_blocks.0.x_block.attn.proj": "transformer_blocks.0.attn.to_out.0",
        "joint_blocks.0.x_block.attn2.proj": "transformer_blocks.0.attn2.to_out.0",
        "joint_blocks.0.context_block.mlp.fc1": "transformer_blocks.0.ff_context.net.0.proj",
        "joint_blocks.1.x_block.adaLN_modulation.1": "transformer_blocks.1.norm1.linear",
        "t_embedder.mlp.2": "time_text_embed.timestep_embedder.linear_2",
        "x_embedder.proj": "pos_embed.proj",
        "context_embedder": "context_embedder",
        "final_layer.linear": "proj_out",
    },
}
# Joined layers, and the names of their parts with their rows by the width.
_JOINED: Mapping[str, Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "zimage": {
        "layers.0.attention.qkv": {
            f"layers.0.attention.to_{part}": (n, n + 1) for n, part in enumerate("qkv")
        }
    },
    "flux2": {
        "double_blocks.0.txt_attn.qkv": {
            f"transformer_blocks.0.attn.add_{part}_proj": (n, n + 1) for n, part in enumerate("qkv")
        },
        "final_layer.adaLN_modulation.1": {"norm_out.shift": (0, 1), "norm_out.scale": (1, 2)},
        "norm_out.linear": {"norm_out.scale": (0, 1), "norm_out.shift": (1, 2)},
    },
    "chroma": {
        "single_blocks.0.linear1": {
            "single_transformer_blocks.0.attn.to_q": (0, 1),
            "single_transformer_blocks.0.attn.to_k": (1, 2),
            "single_transformer_blocks.0.attn.to_v": (2, 3),
            "single_transformer_blocks.0.proj_mlp": (3, 5),
        }
    },
    "sd3": {
        "joint_blocks.0.x_block.attn2.qkv": {
            f"transformer_blocks.0.attn2.to_{part}": (n, n + 1) for n, part in enumerate("qkv")
        },
        # Nothing reads the queries of the last block's text.
        "joint_blocks.1.context_block.attn.qkv": {
            "transformer_blocks.1.attn.add_k_proj": (1, 2),
            "transformer_blocks.1.attn.add_v_proj": (2, 3),
        },
        "joint_blocks.1.context_block.adaLN_modulation.1": {
            "transformer_blocks.1.norm1_context.shift": (0, 1),
            "transformer_blocks.1.norm1_context.scale": (1, 2),
        },
        "transformer_blocks.1.norm1_context.linear": {
            "transformer_blocks.1.norm1_context.scale": (0, 1),
            "transformer_blocks.1.norm1_context.shift": (1, 2),
        },
    },
}
_QWEN3 = "layers.0.self_attn.q_proj"
_T5 = "encoder.block.0.layer.0.SelfAttention.q"
_CLIP = "text_model.encoder.layers.0.mlp.fc1"
_TEXTS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "zimage": {
        f"lora_te_{_QWEN3.replace('.', '_')}": ("text_encoder", _QWEN3),
        f"text_encoders.qwen3_4b.transformer.model.{_QWEN3}": ("text_encoder", _QWEN3),
        f"text_encoder.model.{_QWEN3}": ("text_encoder", _QWEN3),
    },
    "flux2": {f"text_encoders.qwen3_4b.transformer.model.{_QWEN3}": ("text_encoder", _QWEN3)},
    "chroma": {
        f"lora_te1_{_T5.replace('.', '_')}": ("text_encoder", _T5),
        f"lora_te3_{_T5.replace('.', '_')}": ("text_encoder", _T5),
        f"t5.{_T5}": ("text_encoder", _T5),
    },
    "sd3": {
        f"lora_te1_{_CLIP.replace('.', '_')}": ("text_encoder", _CLIP),
        f"lora_te2_{_CLIP.replace('.', '_')}": ("text_encoder_2", _CLIP),
        f"text_encoder_2.{_CLIP}": ("text_encoder_2", _CLIP),
        f"lora_te3_{_T5.replace('.', '_')}": ("text_encoder_3", _T5),
        f"t5.{_T5}": ("text_encoder_3", _T5),
    },
}


@pytest.fixture(scope="module", params=FAMILIES)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    model = MODELS[request.param]
    return write_parts(tmp_path_factory.mktemp(model.family), model)


def transformer(written: Written) -> Path:
    path = written.folder / f"{written.model.name}.safetensors"
    if not path.exists():
        write_arrays(path, drawn(written.model.transformer))
    return path


def whole(written: Written) -> IdentifiedCheckpoint:
    return supply(identify(transformer(written)), written.parts)


def table(written: Written) -> LayerTable:
    layers = whole(written).architecture.lora_layers
    assert layers is not None
    return layers


def test_a_layer_is_found_by_the_names_of_trainers(written: Written) -> None:
    layers = table(written)
    for original, canonical in _NAMES[written.model.family].items():
        spelled = original.replace(".", "_"), canonical.replace(".", "_")
        for name in (
            f"lora_unet_{spelled[0]}",
            f"lora_unet__{spelled[1]}",
            f"diffusion_model.{original}",
            f"transformer.{canonical}",
            f"lora_transformer_{spelled[1]}",
            f"lycoris_{spelled[1]}",
            f"base_model.model.{canonical}",
            f"transformer.base_model.model.{canonical}",
            canonical,
        ):
            (target,) = layers.find(name)
            assert (target.component, target.layer) == ("denoiser", canonical), name
            assert target.part is None
    for name, found in _TEXTS[written.model.family].items():
        (target,) = layers.find(name)
        assert (target.component, target.layer) == found, name


def test_a_joined_layer_changes_its_parts_in_order(written: Written) -> None:
    layers = table(written)
    for name, parts in _JOINED[written.model.family].items():
        found = {target.layer: target.part for target in layers.find(f"diffusion_model.{name}")}
        assert found == {
            layer: (start * WIDE, stop * WIDE) for layer, (start, stop) in parts.items()
        }


@pytest.mark.parametrize(
    ("family", "name", "layers"),
    [
        (
            "zimage",
            "layers.0.attention.to_qkv",
            [f"layers.0.attention.to_{part}" for part in "qkv"],
        ),
        (
            "flux2",
            "transformer_blocks.0.attn.to_added_qkv",
            [f"transformer_blocks.0.attn.add_{part}_proj" for part in "qkv"],
        ),
        (
            "chroma",
            "single_transformer_blocks.0.attn.to_qkv",
            [f"single_transformer_blocks.0.attn.to_{part}" for part in "qkv"],
        ),
        (
            "sd3",
            "transformer_blocks.0.attn2.to_qkv",
            [f"transformer_blocks.0.attn2.to_{part}" for part in "qkv"],
        ),
        # Nothing reads the queries of the last block's text.
        (
            "sd3",
            "transformer_blocks.1.attn.to_added_qkv",
            [f"transformer_blocks.1.attn.add_{part}_proj" for part in "kv"],
        ),
    ],
)
def test_projections_that_diffusers_joins_are_found(
    written: Written, family: str, name: str, layers: list[str]
) -> None:
    """SimpleTuner's files, with `fused_qkv_projections`."""
    if written.model.family == family:
        found = table(written).find(f"lycoris_{name.replace('.', '_')}")
        starts = range(3 - len(layers), 3)
        assert [(target.layer, target.part) for target in found] == [
            (layer, (start * WIDE, (start + 1) * WIDE))
            for layer, start in zip(layers, starts, strict=True)
        ]


@pytest.mark.parametrize(
    ("family", "name", "layer"),
    [
        *(
            (family, f"{block}.norm.key_norm", f"{canonical}.attn.norm_{kind}")
            for family in ("chroma", "flux2")
            for block, canonical, kind in (
                ("double_blocks.0.img_attn", "transformer_blocks.0", "k"),
                ("double_blocks.0.txt_attn", "transformer_blocks.0", "added_k"),
                ("single_blocks.0", "single_transformer_blocks.0", "k"),
            )
        ),
        ("flux2", "sformer_blocks.0.attn.to_k", "transformer_blocks.0.attn.to_k"),
    ],
)
def test_norms_and_cut_names_are_found(
    written: Written, family: str, name: str, layer: str
) -> None:
    if written.model.family == family:
        (target,) = table(written).find(f"diffusion_model.{name}")
        assert (target.component, target.layer) == ("denoiser", layer)


@pytest.mark.parametrize(
    ("family", "name", "layer"),
    [
        ("chroma", "img_in.proj", "x_embedder"),
        ("chroma", "double_blocks.0.txt_attn.qkv.0", "transformer_blocks.0.attn.add_q_proj"),
        ("chroma", "single_blocks.0.linear1.3", "single_transformer_blocks.0.proj_mlp"),
        ("sd3", "joint_blocks.0.x_block.attn2.qkv.2", "transformer_blocks.0.attn2.to_v"),
        # Nothing reads the queries of the last block's text, which are the first part.
        ("sd3", "joint_blocks.1.context_block.attn.qkv.1", "transformer_blocks.1.attn.add_k_proj"),
    ],
)
def test_a_numbered_part_of_a_joined_layer_is_a_layer_of_its_own(
    written: Written, family: str, name: str, layer: str
) -> None:
    """OMI's layout, which OneTrainer wrote: each part has a change of its own."""
    if written.model.family == family:
        (target,) = table(written).find(f"transformer.{name}")
        assert (target.component, target.layer, target.part) == ("denoiser", layer, None)


def test_every_matrix_of_the_transformer_has_an_original_name(written: Written) -> None:
    layers = table(written)
    found = {
        target.layer
        for name, shape in written.model.transformer.items()
        if name.endswith(".weight") and len(shape) > 1
        for target in layers.find(f"diffusion_model.{name.removesuffix('.weight')}")
    }
    matrices = {
        name.removesuffix(".weight")
        for name, weight in whole(written).components["denoiser"].weights.items()  # type: ignore[index]
        if name.endswith(".weight") and len(weight.shape) > 1
    }
    assert found == matrices


@cache
def changes(family: str) -> Mapping[str, tuple[Array, Array]]:
    """Factors `up` and `down` of the linear layers, by their original names."""
    random = np.random.default_rng(1)
    found: dict[str, tuple[Array, Array]] = {}
    for name, shape in MODELS[family].transformer.items():
        layer = name.removesuffix(".weight")
        if layer == name or len(shape) != 2:
            continue
        up = random.standard_normal((shape[0], RANK)).astype(np.float32)
        down = random.standard_normal((RANK, shape[1])) / np.sqrt(RANK * shape[1])
        found[layer] = up, (2 * down).astype(np.float32)
    return found


def kohya(family: str) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for layer, (up, down) in changes(family).items():
        name = f"lora_unet_{layer.replace('.', '_')}"
        arrays |= {f"{name}.lora_up.weight": up, f"{name}.lora_down.weight": down}
        arrays[f"{name}.alpha"] = np.asarray(RANK, np.float32)
    return arrays


def lokr(family: str) -> dict[str, Array]:
    """LyCORIS's LoKr with the same sizes."""
    arrays: dict[str, Array] = {}
    random = np.random.default_rng(2)
    for layer, (up, down) in changes(family).items():
        name = f"lycoris_{layer.replace('.', '_')}"
        factor = random.standard_normal((2, 2)).astype(np.float32)
        rest = random.standard_normal((up.shape[0] // 2, down.shape[1] // 2)) / 4
        arrays |= {f"{name}.lokr_w1": factor, f"{name}.lokr_w2": rest.astype(np.float32)}
        arrays[f"{name}.alpha"] = np.asarray(1, np.float32)
    return arrays


def picture(
    path: Path, parts: ComponentFiles, lora: Path | None = None, mode: LoraMode = LoraMode.MERGE
) -> NDArray[np.uint8]:
    read = JobLoras(supply(identify(path), parts), LoraLookup(()), read_index)
    loras = (LoraChoice(file=str(lora), strength=0.8),) if lora else ()
    request = a_request(
        path,
        components=parts,
        loras=loras,
        lora_mode=mode,
        width=96,
        height=64,
        steps=2,
        seed=7,
        prompt="a red house by the sea",
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        guidance=1.0,
    )
    made = run(request, CpuBackend(), (Precision.F32,), read_loras=read, residency=RESIDENCY)
    assert not made.warnings
    return np.asarray(made.pixels[0])


@pytest.mark.parametrize(
    ("written", "kind"),
    thinned(list(product(FAMILIES, [kohya, lokr])), [("chroma", kohya), ("zimage", lokr)]),
    indirect=["written"],
)
def test_a_lora_acts_merged_as_beside_and_over_blocks(
    written: Written,
    kind: Callable[[str], dict[str, Array]],
    tmp_path: Path,
) -> None:
    model = written.model
    write_arrays(tmp_path / "lora.safetensors", kind(model.family))
    path, lora = transformer(written), tmp_path / "lora.safetensors"
    merged = picture(path, written.parts, lora)
    assert decibels(merged, picture(path, written.parts)) < 40
    assert decibels(picture(path, written.parts, lora, LoraMode.SIDE), merged) > 50
    stored = stored_as(drawn(model.transformer), DType.Q8_0, model.plain)
    quantised = write_gguf(tmp_path / f"{model.name}.gguf", stored)
    for mode in (LoraMode.MERGE, LoraMode.SIDE):
        assert decibels(picture(quantised, written.parts, lora, mode), merged) > 35


def test_a_dora_of_a_joined_layer_changes_its_parts_as_one(
    written: Written, tmp_path: Path
) -> None:
    """A1111's lengths are those of inputs over all outputs of the layer."""
    if written.model.family != "zimage":
        return
    layer, random = "layers.0.attention.qkv", np.random.default_rng(3)
    up = random.standard_normal((3 * WIDE, RANK)).astype(np.float32)
    down = random.standard_normal((RANK, WIDE)).astype(np.float32)
    lengths = 1 + np.abs(random.standard_normal((1, WIDE))).astype(np.float32)
    parts = {"lora_A.weight": down, "lora_B.weight": up, "dora_scale": lengths}
    named = {f"diffusion_model.{layer}.{part}": array for part, array in parts.items()}
    write_arrays(tmp_path / "dora.safetensors", named)
    checkpoint = whole(written)
    fitted = fit_lora(read_lora(read_index(tmp_path / "dora.safetensors")), checkpoint)
    lora = ActingLora(fitted, use_of(LoraChoice(file="dora")), LoraRules())
    changes = lora.changes(checkpoint, Component.DENOISER, 1.0)
    stored = checkpoint.components[Component.DENOISER].weights
    names = [f"layers.0.attention.to_{part}.weight" for part in "qkv"]
    assert list(changes) == names
    found = [PatchedWeight(as_source(stored[name]), tuple(changes[name])).read() for name in names]
    wanted = np.concatenate([as_source(stored[name]).read() for name in names]) + up @ down
    wanted *= lengths / np.linalg.norm(wanted, axis=0)
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("layer", "shape", "words"),
    [
        (
            "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k",
            (320, 768),
            "SD 1",
        ),
        ("lora_unet_blocks_0_cross_attn_k_proj", (2048, 1024), "Anima or Cosmos"),
    ],
)
def test_a_lora_for_another_family_is_refused_by_name(
    written: Written,
    layer: str,
    shape: tuple[int, int],
    words: str,
    tmp_path: Path,
) -> None:
    path = tmp_path / "other.safetensors"
    write_arrays(
        path,
        {
            f"{layer}.lora_up.weight": np.ones((shape[0], RANK), np.float32),
            f"{layer}.lora_down.weight": np.ones((RANK, shape[1]), np.float32),
        },
    )
    with pytest.raises(EngineError, match=words) as caught:
        picture(transformer(written), written.parts, path)
    assert caught.value.code is ErrorCode.LORA_MISMATCH


def test_a_lora_of_flux_acts_on_chroma_without_its_modulations(
    written: Written, tmp_path: Path
) -> None:
    if written.model.family != "chroma":
        return
    known, unknown = "double_blocks_0_img_mlp_2", "double_blocks_0_img_mod_lin"
    arrays: dict[str, Array] = {}
    for layer, out in ((known, WIDE), (unknown, 6 * WIDE)):
        into = written.model.transformer["double_blocks.0.img_mlp.2.weight"][1]
        arrays[f"lora_unet_{layer}.lora_up.weight"] = np.ones((out, RANK), np.float32)
        arrays[f"lora_unet_{layer}.lora_down.weight"] = np.ones(
            (RANK, into if layer == known else WIDE), np.float32
        )
    write_arrays(tmp_path / "lora.safetensors", arrays)
    fitted = fit_lora(read_lora(read_index(tmp_path / "lora.safetensors")), whole(written))
    assert [module.target.layer for module in fitted.modules] == ["transformer_blocks.0.ff.net.2"]
    assert set(fitted.unused) == {key for key in arrays if unknown in key}
    assert str(unapplied(fitted).text).startswith("2 of the 4 keys")


@pytest.mark.parametrize("made_for", FAMILIES)
def test_a_lora_of_the_others_is_refused(written: Written, made_for: str, tmp_path: Path) -> None:
    if made_for == written.model.family:
        return
    path = tmp_path / "lora.safetensors"
    write_arrays(path, kohya(made_for))
    with pytest.raises(EngineError, match=r"lora\.safetensors is a LoRA for") as caught:
        picture(transformer(written), written.parts, path)
    assert caught.value.code is ErrorCode.LORA_MISMATCH
