"""Diffusers folders of ControlNets: the settings that only their `config.json` states."""

from collections.abc import Sequence

import msgspec

from backends.base import Array
from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import ControlNetConstants, ControlNetFile, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.control.network import ControlNetSizes, ControlNetwork
from engine.control.sizes import FIRST, control_net_config
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.unet.sizes import UNetFacts
from engine.weights.derived import DerivedWeight
from engine.weights.sources import WeightSource, as_source


def with_settings(network: ControlNetwork, part: FolderPart) -> ControlNetwork:
    """Return a ControlNet with the settings of its folder, checked against the weights.

    An adapter has no settings but those that its weights show.

    Raises EngineError: CHECKPOINT_UNKNOWN_FAMILY for a setting that is not run,
    CHECKPOINT_MISMATCH for one that the weights contradict.
    """
    if not isinstance(network.sizes, ControlNetSizes):
        return network
    file, stated = part.path / "config.json", part.config(ControlNetFile)
    advice = sentence("Choose another version of the ControlNet.")
    require_usual(file, unusual(stated, ControlNetConstants), advice)
    heads = stated.num_attention_heads or stated.attention_head_dim
    facts = UNetFacts(heads, stated.norm_num_groups, stated.norm_eps)
    config = control_net_config(network.weights, facts, part.index.path)
    down = config.encoder.down
    check_claims(
        file,
        (
            ("block_out_channels", stated.block_out_channels, tuple(level.width for level in down)),
            ("in_channels", stated.in_channels, config.encoder.in_channels),
            ("conditioning_channels", stated.conditioning_channels, config.map_channels),
        ),
    )
    config = msgspec.structs.replace(config, pools=stated.global_pool_conditions)
    weights = dict(network.weights)
    if stated.controlnet_conditioning_channel_order == "bgr":
        weights[FIRST] = _reversed(as_source(weights[FIRST]))
    return msgspec.structs.replace(
        network, weights=weights, sizes=ControlNetSizes(config, states_heads=True)
    )


def _reversed(kernel: WeightSource) -> WeightSource:
    """Return the kernel for RGB of a network whose maps are BGR, or the other way round."""

    def derive(parts: Sequence[Array], out: Array) -> None:
        out[...] = parts[0][:, ::-1]

    return DerivedWeight((kernel,), kernel.shape, derive, "reversed channels")
