"""The peers by name. Each is loaded in a child process (`benchmarks.child`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from benchmarks.child import Peer


@dataclass(frozen=True, slots=True)
class PeerReference:
    """The module and class of a peer, and the package it needs."""

    module: str
    type_name: str
    package: str

    @property
    def installed(self) -> bool:
        """True if the package is installed."""
        return find_spec(self.package) is not None

    def load(self, options: Mapping[str, object]) -> Peer:
        """Import the peer's module and construct the peer."""
        make = cast("Callable[..., Peer]", getattr(import_module(self.module), self.type_name))
        return make(**options)


PEERS: Mapping[str, PeerReference] = {
    "safelight": PeerReference("benchmarks.peers.safelight", "Safelight", "numpy"),
    "control": PeerReference("benchmarks.peers.control_step", "ControlStep", "numpy"),
    "control diffusers": PeerReference(
        "benchmarks.peers.control_diffusers", "ControlDiffusers", "diffusers"
    ),
    "loaded": PeerReference("benchmarks.peers.loaded", "Loaded", "numpy"),
    "quantized": PeerReference("benchmarks.peers.quantized", "QuantizedStep", "numpy"),
    "quantized layer": PeerReference(
        "benchmarks.peers.quantized_layer", "QuantizedLayer", "openvino"
    ),
    "flow": PeerReference("benchmarks.peers.flow_step", "FlowStep", "onnxruntime"),
    "flow diffusers": PeerReference(
        "benchmarks.peers.flow_diffusers", "FlowDiffusers", "diffusers"
    ),
    "reference": PeerReference("benchmarks.peers.reference_step", "ReferenceStep", "openvino"),
    "engine jobs": PeerReference("benchmarks.peers.engine_jobs", "EngineJobs", "numpy"),
    "lora diffusers": PeerReference("benchmarks.peers.lora_diffusers", "LoraDiffusers", "peft"),
    "wide network": PeerReference("benchmarks.peers.wide_network", "WideNetwork", "numpy"),
    "upscaler": PeerReference("benchmarks.peers.upscaler", "Upscaler", "numpy"),
    "spandrel": PeerReference("benchmarks.peers.spandrel_torch", "Spandrel", "spandrel"),
    "decoded": PeerReference("benchmarks.peers.decoded", "Decoded", "numpy"),
    "unet step": PeerReference("benchmarks.peers.unet_step", "UnetStep", "numpy"),
    "diffusers gpu": PeerReference("benchmarks.peers.diffusers_gpu", "DiffusersGpu", "diffusers"),
    "spike": PeerReference("benchmarks.peers.spike_unet", "Spike", "openvino"),
    "diffusers": PeerReference("benchmarks.peers.diffusers_torch", "Diffusers", "diffusers"),
    "sdxl": PeerReference("benchmarks.peers.sdxl_unet", "SdxlUnet", "openvino"),
    "sdxl diffusers": PeerReference(
        "benchmarks.peers.sdxl_diffusers", "SdxlDiffusers", "diffusers"
    ),
    "blob": PeerReference("benchmarks.peers.openvino_blob", "OpenVinoBlob", "openvino"),
    "tensorrt": PeerReference("benchmarks.peers.tensorrt_engine", "TensorRtEngine", "tensorrt_rtx"),
    "compiler": PeerReference("benchmarks.peers.compilers", "Compiled", "onnxruntime"),
    "sdcpp": PeerReference("benchmarks.peers.sdcpp", "StableDiffusionCpp", "stable_diffusion_cpp"),
}
