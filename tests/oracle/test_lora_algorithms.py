"""Weights changed by LoRA files equal those of PEFT, LyCORIS and diffusers, for every type."""
# pyright: basic, reportMissingImports=false
# torch, peft, lycoris and diffusers are absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
lycoris = pytest.importorskip("lycoris")

from diffusers import UNet2DConditionModel  # noqa: E402
from lycoris import functional  # noqa: E402
from lycoris import modules as lycoris_modules  # noqa: E402
from lycoris import utils as lycoris_utils  # noqa: E402

from engine.api.conventions import CONVENTIONS  # noqa: E402
from engine.api.lora_rules import DoraRule, LoraRules, RotationRule  # noqa: E402
from engine.api.values import ConventionName  # noqa: E402
from engine.lora.modules import LoraModule  # noqa: E402
from engine.lora.patches import patches_of  # noqa: E402
from engine.weights.patched import PatchedWeight  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.lora.cases import CASES, STRENGTHS, Case, numbers  # noqa: E402
from tests.lora.torch_layers import layer_of, tensors_of  # noqa: E402
from tests.weights.files import write_sources  # noqa: E402

BY_NAME = {case.name: case for case in CASES}
# As LyCORIS: the norms are on the magnitudes' axis.
LYCORIS = LoraRules(dora=DoraRule.TRAINED, rotation=RotationRule.EACH, glora_alpha=True)
# A layer as PEFT's own files spell it.
PEFTS = "base_model.model.layer"
DIFFUSERS = CONVENTIONS[ConventionName.DIFFUSERS].lora


@pytest.fixture(autouse=True)
def without_gradients() -> Any:
    with torch.no_grad():
        yield


def merged(
    folder: Path, case: Case, strength: float, rules: LoraRules, layer: str = "layer"
) -> dict[str, np.ndarray]:
    module = LoraModule(layer, write_arrays(folder / "lora.safetensors", case.tensors))
    bases = {"weight": case.base, "bias": numbers("bias", case.shape[0])}
    sources = write_sources(folder / "base.safetensors", bases)
    patches = patches_of(module, strength, rules, shape=case.shape)
    return {name: PatchedWeight(sources[name], (patch,)).read() for name, patch in patches.items()}


def close(found: np.ndarray, wanted: Any) -> bool:
    wanted = np.asarray(wanted.detach())
    return float(np.abs(found - wanted).max() / np.abs(wanted).max()) < 1e-5


# The order of arguments of LyCORIS's functions.
_KRON = "lokr_w1", "lokr_w1_a", "lokr_w1_b", "lokr_w2", "lokr_w2_a", "lokr_w2_b", "lokr_t2"
_HADA = "hada_w1_b", "hada_w1_a", "hada_w2_b", "hada_w2_a", "hada_t1", "hada_t2"
# LyCORIS's own modules, by the type of a case.
_MODULES = {
    "lora": lycoris_modules.LoConModule,
    "dora": lycoris_modules.LoConModule,
    "oft": lycoris_modules.DiagOFTModule,
    "boft": lycoris_modules.ButterflyOFTModule,
    "glora": lycoris_modules.GLoRAModule,
    "full": lycoris_modules.FullModule,
    "norm": lycoris_modules.NormModule,
}
_LYCORIS = (
    "lora linear", "lora 1x1", "lora 3x3", "lora tucker",
    "oft linear", "oft 3x3", "oft limited", "boft linear", "boft 3x3", "boft limited",
    "boft rescaled", "oft rescaled", "glora linear", "glora 3x3", "full linear", "full 3x3", "norm",
)  # fmt: skip


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", _LYCORIS)
def test_a_weight_is_that_of_a_lycoris_module(tmp_path: Path, name: str, strength: float) -> None:
    case, kind = BY_NAME[name], _MODULES[name.split()[0]]
    state = {f"x.{part}": tensor for part, tensor in tensors_of(case).items()}
    weights = kind.extract_state_dict(state, "x")
    module = kind.make_module_from_state_dict("x", layer_of(case), *weights)
    # The shape serves modules whose kernels are stored flat.
    weight, bias = module.get_merged_weight(strength, None if name == "norm" else case.shape)
    found = merged(tmp_path, case, strength, LYCORIS)
    assert close(found["weight"], weight)
    assert ("bias" in found) is (name == "norm")
    assert "bias" not in found or close(found["bias"], bias)


@pytest.mark.parametrize(
    "name", ["dora outputs", "dora 3x3 outputs", "dora inputs", "dora 3x3 inputs"]
)
def test_a_decomposed_weight_is_that_of_lycoris(tmp_path: Path, name: str) -> None:
    """At strength 1: LyCORIS's trainer has a rule of its own for others, as no tool has."""
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    made = lycoris_modules.LoConModule(
        "x", layer_of(case), 1.0, 3, 1.5, weight_decompose=True, wd_on_out="outputs" in name
    )
    made.lora_up.weight.data.copy_(tensors["lora_up.weight"])
    made.lora_down.weight.data.copy_(tensors["lora_down.weight"])
    made.dora_scale.data.copy_(tensors["dora_scale"])
    wanted, _ = made.get_merged_weight(1.0, case.shape)
    assert close(merged(tmp_path, case, 1.0, LYCORIS)["weight"], wanted)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", [case.name for case in CASES if case.name.startswith("lok")])
def test_a_kronecker_product_is_that_of_lycoris(tmp_path: Path, name: str, strength: float) -> None:
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    whole = not any(part.endswith("_b") for part in tensors)
    # The function divides by the second axis of a factor, which is Tucker's columns, not its rank.
    alpha = 1.0 if whole else float(tensors["alpha"]) * (2 if "lokr_t2" in tensors else 1)
    wanted = functional.lokr.diff_weight(*(tensors.get(part) for part in _KRON), gamma=alpha)
    found = merged(tmp_path, case, strength, LYCORIS)["weight"]
    assert close(found, torch.from_numpy(case.base) + strength * wanted.reshape(case.shape))


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", ["loha linear", "loha 3x3", "loha tucker"])
def test_a_hadamard_product_is_that_of_lycoris(tmp_path: Path, name: str, strength: float) -> None:
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    scale = torch.tensor(float(tensors["alpha"]) / 3)
    wanted = functional.loha.diff_weight(*(tensors.get(part) for part in _HADA), gamma=scale)
    found = merged(tmp_path, case, strength, LYCORIS)["weight"]
    assert close(found, torch.from_numpy(case.base) + strength * wanted.reshape(case.shape))


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", [case.name for case in CASES if case.name.startswith("ia3")])
def test_a_scaled_axis_is_that_of_lycoris(tmp_path: Path, name: str, strength: float) -> None:
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    on_input = bool(tensors["on_input"])
    module = lycoris_modules.IA3Module("x", layer_of(case), train_on_input=on_input)
    module.weight.data.copy_(tensors["weight"].reshape(module.weight.shape))
    wanted, _ = module.get_merged_weight(strength)
    assert close(merged(tmp_path, case, strength, LYCORIS)["weight"], wanted)


class Network(torch.nn.Module):
    """A network of one layer."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer


def adapted(case: Case, config: Any) -> Any:
    """PEFT's layer of this kind, on the layer of a case."""
    return peft.get_peft_model(Network(layer_of(case)), config).base_model.model.layer


def peft_lora(case: Case, strength: float) -> Any:
    tensors = tensors_of(case)
    dora = tensors.get("dora_scale", tensors.get("lora_magnitude_vector"))
    alpha = float(tensors.get("alpha", torch.tensor(3.0)))
    config = peft.LoraConfig(
        r=3, lora_alpha=alpha, target_modules=["layer"], use_dora=dora is not None
    )
    layer = adapted(case, config)
    for factor, part in ((layer.lora_A, "lora_down.weight"), (layer.lora_B, "lora_up.weight")):
        factor["default"].weight.data = tensors[part].reshape(factor["default"].weight.shape)
    if dora is not None:
        magnitude = layer.lora_magnitude_vector["default"].weight
        magnitude.data = dora.reshape(magnitude.shape)
    layer.set_scale("default", strength)
    layer.merge()
    return layer.get_base_layer().weight


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    "name",
    [
        "lora linear", "lora 1x1", "lora 3x3", "lora no alpha", "dora outputs", "dora 3x3 outputs",
        "dora of peft", "dora of peft 3x3",
    ],
)  # fmt: skip
def test_a_low_rank_change_is_that_of_peft(tmp_path: Path, name: str, strength: float) -> None:
    case = BY_NAME[name]
    found = merged(tmp_path, case, strength, DIFFUSERS)["weight"]
    assert close(found, peft_lora(case, strength))


@pytest.mark.parametrize("tool", ConventionName)
@pytest.mark.parametrize("name", ["dora of peft", "dora of peft 3x3"])
def test_magnitudes_of_peft_are_measured_as_trained_by_every_convention(
    tmp_path: Path, name: str, tool: ConventionName
) -> None:
    """Diffusers alone reads them; at strength 1 all rules of the strength are one."""
    found = merged(tmp_path, BY_NAME[name], 1.0, CONVENTIONS[tool].lora)["weight"]
    assert close(found, peft_lora(BY_NAME[name], 1.0))


@pytest.mark.parametrize("shape", [(1, 8, 1, 1), (8, 1, 1, 1)])
def test_magnitudes_of_kernels_are_read_as_peft_stores_them(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    """Also where a kernel has as many inputs as outputs."""
    tensors = {"lora_up.weight": (8, 3, 1, 1), "lora_down.weight": (3, 8, 3, 3)}
    arrays = {part: numbers(part, *dims) for part, dims in tensors.items()}
    arrays["dora_scale"] = 2 + numbers("scale", *shape)
    case = Case("dora square", (8, 8, 3, 3), arrays, ())
    assert close(merged(tmp_path, case, 0.5, DIFFUSERS)["weight"], peft_lora(case, 0.5))


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    "name", [case.name for case in CASES if case.name.startswith(("loha", "lokr"))]
)
def test_a_product_is_that_of_peft(tmp_path: Path, name: str, strength: float) -> None:
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    rank = 3 if "loha" in name else 2
    whole = not any(part.endswith("_b") for part in tensors)
    alpha = float(rank) if whole else float(tensors["alpha"])
    kind = peft.LoHaConfig if "loha" in name else peft.LoKrConfig
    layer = adapted(case, kind(r=rank, alpha=alpha, target_modules=["layer"]))
    for part in layer.adapter_layer_names:
        factors = getattr(layer, part)
        if "default" in factors:
            factors.pop("default")
        if part in tensors:
            factors["default"] = torch.nn.Parameter(tensors[part])
    layer.set_scale("default", strength)
    layer.merge()
    found = merged(tmp_path, case, strength, DIFFUSERS)["weight"]
    assert close(found, layer.get_base_layer().weight)


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 3, 3)])
@pytest.mark.parametrize("on_input", [False, True])
def test_a_scaled_axis_is_that_of_peft(
    tmp_path: Path, shape: tuple[int, ...], on_input: bool
) -> None:
    config = peft.IA3Config(
        target_modules=["layer"], feedforward_modules=["layer"] if on_input else []
    )
    layer = adapted(Case("", shape, {}, ()), config)
    factors = layer.ia3_l["default"]
    arrays = {"ia3_l": numbers("ia3_l", *factors.shape)}
    factors.data = torch.from_numpy(arrays["ia3_l"])
    layer.merge()
    found = merged(tmp_path, Case("ia3 of peft", shape, arrays, ()), 1.0, DIFFUSERS)
    base = layer.get_base_layer()
    assert close(found["weight"], base.weight)
    # The results of a layer are scaled with their bias.
    assert ("bias" in found) is not on_input
    assert on_input or close(found["bias"], base.bias)


@pytest.mark.parametrize("name", ["oft of inputs", "oft of inputs, shared", "oft of inputs 3x3"])
def test_a_rotation_of_inputs_is_that_of_peft(tmp_path: Path, name: str) -> None:
    """PEFT's own merge has no strength."""
    case, packed = BY_NAME[name], tensors_of(BY_NAME[name])["oft_R.weight"]
    config = peft.OFTConfig(
        r=0, oft_block_size=3, target_modules=["layer"], block_share="shared" in name
    )
    layer = adapted(case, config)
    layer.oft_R["default"].weight.data = packed
    layer.merge()
    found = merged(tmp_path, case, 1.0, DIFFUSERS, PEFTS)["weight"]
    assert close(found, layer.get_base_layer().weight)
    half = merged(tmp_path, case, 0.5, DIFFUSERS, PEFTS)["weight"]
    assert close(half, (layer.get_base_layer().weight + torch.from_numpy(case.base)) / 2)


@pytest.mark.parametrize("name", [case.name for case in CASES if case.name.startswith("boft of")])
def test_butterflies_of_inputs_are_those_of_peft(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PEFT needs CUDA for more than one factor, but only to put blocks on a diagonal."""

    def diagonal(blocks: Any) -> Any:
        return torch.stack([torch.block_diag(*block) for block in blocks])

    boft = peft.tuners.boft.layer
    monkeypatch.setattr(boft, "get_fbd_cuda", lambda: True)
    monkeypatch.setattr(boft.FastBlockDiag, "apply", staticmethod(diagonal))
    case, tensors = BY_NAME[name], tensors_of(BY_NAME[name])
    factors, _, size, _ = tensors["boft_R"].shape
    config = peft.BOFTConfig(
        boft_block_size=size, boft_n_butterfly_factor=factors, target_modules=["layer"]
    )
    layer = adapted(case, config)
    assert layer.boft_R["default"].shape == tensors["boft_R"].shape
    assert layer.boft_s["default"].shape == tensors["boft_s"].shape
    layer.boft_R["default"].data = tensors["boft_R"]
    layer.boft_s["default"].data = tensors["boft_s"]
    layer.merge()
    wanted = layer.get_base_layer().weight
    assert close(merged(tmp_path, case, 1.0, DIFFUSERS)["weight"], wanted)
    half = merged(tmp_path, case, 0.5, DIFFUSERS)["weight"]
    assert close(half, (wanted + torch.from_numpy(case.base)) / 2)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_change_of_a_table_of_tokens_is_that_of_peft(tmp_path: Path, strength: float) -> None:
    case, tensors = BY_NAME["lora of tokens"], tensors_of(BY_NAME["lora of tokens"])
    network = Network(torch.nn.Embedding(*case.shape))
    network.layer.weight.data = torch.from_numpy(case.base)
    config = peft.LoraConfig(r=3, lora_alpha=3, target_modules=["layer"])
    layer = peft.get_peft_model(network, config).base_model.model.layer
    for side in ("A", "B"):
        getattr(layer, f"lora_embedding_{side}")["default"].data = tensors[f"lora_embedding_{side}"]
    layer.set_scale("default", strength)
    layer.merge()
    found = merged(tmp_path, case, strength, DIFFUSERS)["weight"]
    assert close(found, layer.get_base_layer().weight)


def test_a_sparse_rest_is_what_lycoris_extracts(tmp_path: Path) -> None:
    """With all of the rest the extracted change makes the tuned weight, up to float16."""
    tuned, case = numbers("tuned", 8, 6, 3, 3), BY_NAME["lora 3x3"]
    (down, up, rest), kind = lycoris_utils.extract_conv(
        torch.from_numpy(tuned - case.base), "fixed", 3, "cpu", True
    )
    assert kind == "low rank"
    rest = lycoris_utils.make_sparse(rest.reshape(8, -1), 0.5).to_sparse().coalesce()
    arrays = {
        "lora_up.weight": up.numpy(),
        "lora_down.weight": down.numpy(),
        "alpha": np.asarray(3, np.float32),
        "bias_indices": rest.indices().numpy().astype(np.float32),
        "bias_values": rest.values().numpy(),
        "bias_size": np.asarray((8, 54), np.float32),
    }
    wanted = (up.reshape(8, 3) @ down.reshape(3, -1) + rest.to_dense()).reshape(case.shape)
    made = Case("sparse", case.shape, arrays, ())
    for strength in STRENGTHS:
        found = merged(tmp_path, made, strength, DIFFUSERS)["weight"]
        assert close(found, torch.from_numpy(case.base) + strength * wanted)


LAYERS = {
    "mid_block.attentions.0.transformer_blocks.0.attn1.to_q": "linear",
    "mid_block.attentions.0.proj_in": "1x1",
    "mid_block.resnets.0.conv1": "3x3",
}


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_fused_lora_is_that_of_diffusers(tmp_path: Path, strength: float) -> None:
    """The loader of a UNet, with ranks and alphas that differ by layer."""
    unet = UNet2DConditionModel(
        sample_size=8, block_out_channels=(8, 16), layers_per_block=1, cross_attention_dim=8,
        attention_head_dim=2, norm_num_groups=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    bases, arrays, alphas, state = {}, {}, {}, {}
    for rank, layer in enumerate(LAYERS, 2):
        base = unet.get_submodule(layer).weight.numpy().copy()
        ones = (1,) * (base.ndim - 2)
        up, down = numbers("up", base.shape[0], rank, *ones), numbers("down", rank, *base.shape[1:])
        bases[layer], alphas[f"unet.{layer}.alpha"] = base, rank * 0.75
        arrays[layer] = {"lora_up.weight": up, "lora_down.weight": down}
        arrays[layer]["alpha"] = np.asarray(rank * 0.75, np.float32)
        state[f"unet.{layer}.lora_A.weight"] = torch.from_numpy(down)
        state[f"unet.{layer}.lora_B.weight"] = torch.from_numpy(up)
    unet.load_lora_adapter(state, prefix="unet", network_alphas=alphas)
    unet.fuse_lora(lora_scale=strength)
    for number, layer in enumerate(LAYERS):
        folder = tmp_path / str(number)
        folder.mkdir()
        module = LoraModule(layer, write_arrays(folder / "lora.safetensors", arrays[layer]))
        base = write_sources(folder / "base.safetensors", {"w": bases[layer]})["w"]
        patch = patches_of(module, strength, DIFFUSERS, shape=bases[layer].shape)["weight"]
        wanted = unet.get_submodule(layer).get_base_layer().weight
        assert close(PatchedWeight(base, (patch,)).read(), wanted), layer
