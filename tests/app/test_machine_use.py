"""The hardware that a device is: a graphics card, or the processor."""

import pytest

from app.engine.machine_use import used_adapter
from engine.api.machine import AdapterInfo, DeviceInfo, MachineInfo

M1 = AdapterInfo(vendor="Apple", name="Apple M1", backends=("webgpu", "apple_coreml"))


@pytest.mark.parametrize(("backend", "used"), [("webgpu", M1), ("cpu", None)])
def test_the_backend_tells_graphics_from_a_processor_of_the_same_name(
    backend: str, used: AdapterInfo | None
) -> None:
    machine = MachineInfo(processor="Apple M1", memory_total_bytes=8 << 30, adapters=(M1,))
    device = DeviceInfo(
        backend=backend,
        name="Apple M1",
        precisions=("float16",),
        automatic=True,
        runtime="",
        memory_total_bytes=8 << 30,
        memory_free_bytes=4 << 30,
    )
    assert used_adapter(machine, device) == used
