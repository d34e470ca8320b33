"""LoRA files for tests of the app and the window, as the engine describes them."""

from engine.api.lora_files import FewStepSettings, LoraInfo
from engine.api.values import SamplerName, ScheduleName

LCM = FewStepSettings(
    title="LCM",
    sampler=SamplerName.LCM,
    schedule=ScheduleName.SGM_UNIFORM,
    steps=4,
    guidance=1.0,
)


def lora(name: str, **facts: object) -> LoraInfo:
    """A file of the starter's family; `facts` replace what is usual."""
    usual: dict[str, object] = {
        "path": f"/loras/{name}.safetensors",
        "name": name,
        "size": 1000,
        "modified_ns": 1,
        "families": ("sd1",),
        "is_certain": True,
        "rank": 8,
    }
    return LoraInfo(**(usual | facts))  # pyright: ignore[reportArgumentType]


INK = lora("styles/ink", trigger_words=("inkwash", "sumi-e brush"), hashes=("ab" * 32,))
FAST = lora("lcm-lora", few_steps=LCM)
HUGE = lora("huge", families=("sdxl",))
BROKEN = lora("broken", families=(), problem="broken.safetensors is a web page.")
LORAS = (INK, FAST, HUGE, BROKEN)
