"""Files of control networks and IP-Adapters for tests, as the engine describes them."""

from pathlib import Path

from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.features import Features, OptionalSetting
from engine.api.model_files import ModelInfo, ModelKind

EVERY_OPTION = Features(options=tuple(OptionalSetting))


def say_family(
    session: Session,
    family: str,
    features: Features = EVERY_OPTION,
    checkpoint: Path | None = None,
) -> None:
    """Have the engine say that a checkpoint is of a family, and what it can do: the chosen one."""
    info = CheckpointInfo(
        path="/a",
        family=family,
        variant="base",
        prediction="epsilon",
        default_size=512,
        components=(),
        missing=(),
        evidence=(),
        ignored_keys=0,
        digest="",
        features=features,
    )
    store, path = session.checkpoints, checkpoint or session.generation.checkpoint
    # An answer that is on its way, of an engine that knows no checkpoint, comes too late.
    store._latest.pop(path, None)  # pyright: ignore[reportPrivateUsage]
    store._keep(path, info)  # pyright: ignore[reportPrivateUsage]


def listed(name: str, kind: ModelKind = ModelKind.CONTROLNET, **facts: object) -> ModelInfo:
    """A file of SD 1; `facts` replace what is usual."""
    usual: dict[str, object] = {
        "path": f"/models/{name}.safetensors",
        "name": name,
        "root": "/models",
        "size": 1000,
        "modified_ns": 1,
        "kind": kind,
        "families": ("sd1",),
    }
    return ModelInfo(**(usual | facts))  # pyright: ignore[reportArgumentType]


CANNY = listed("controlnet/control_v11p_sd15_canny", sha256="ab" * 32)
DEPTH = listed("controlnet/control_v11f1p_sd15_depth")
CANNY_XL = listed("controlnet/canny-xl", families=("sdxl",))
BROKEN = listed("controlnet/page", families=(), problem="page.safetensors is a web page.")
ADAPTER = listed("ipadapter/ip-adapter_sd15", ModelKind.IP_ADAPTER)
ENCODER = listed("clip_vision/vit-h", ModelKind.VISION_ENCODER, families=())
MODELS = (CANNY_XL, DEPTH, CANNY, BROKEN, ADAPTER, ENCODER)
