"""ONNX Runtime's messages for a card that is full or gone, as users posted them."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false
# (the runtime ships no complete types)

from dataclasses import dataclass

import numpy as np
import onnxruntime as ort
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import BackendError, DType, Graph, OperatorSet, Precision, RunCancelled
from backends.onnx_runtime.errors import translated_errors
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import NeverCancelled


@dataclass(frozen=True)
class Report:
    """An error's text, and where it was reported."""

    error: type[Exception]
    text: str
    source: str


FULL = [
    Report(
        runtime.RuntimeException,
        "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running "
        "Conv node. Name:'/patch_embed/stages/stages.0/blocks/blocks.0/mlp/fc1/Conv' Status "
        "Message: /onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* "
        "onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*, bool, "
        "onnxruntime::WaitNotificationFn) Failed to allocate memory for requested buffer of size "
        "4585490524328388608",
        "https://github.com/microsoft/onnxruntime/issues/22702",
    ),
    Report(
        runtime.RuntimeException,
        "Non-zero status code returned while running MemcpyToHost node. Name:'Memcpy_token_29' "
        "Status Message: D:\\a\\_work\\1\\s\\onnxruntime\\core\\providers\\dml\\"
        "DmlExecutionProvider\\src\\MLOperatorAuthorImpl.cpp(1978)\\"
        "onnxruntime_pybind11_state.pyd!00007FFBDC8EBB9F: (caller: 00007FFBDCFFDEFF) Exception(3) "
        "tid(4304) 8007000E Not enough memory resources are available to complete this operation.",
        "https://github.com/huggingface/diffusers/pull/552",
    ),
    Report(
        runtime.Fail,
        "vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY\n"
        "    at CheckVkOOMThenSuccessImpl (..<URL>)",
        "https://github.com/mlc-ai/web-llm/issues/60",
    ),
    Report(
        RuntimeError,
        "[E:onnxruntime:Default, webgpu_context.cc:120 operator()] WebGPU device error(2): "
        "Out of memory",
        "https://github.com/microsoft/onnxruntime/issues/25195",
    ),
]
GONE = [
    Report(
        runtime.Fail,
        "[ONNXRuntimeError] : 1 : FAIL : CUDA failure 719: unspecified launch failure ; GPU=0 ; "
        "hostname=BALYN-OMAVEL ; file=D:\\a\\_work\\1\\s\\onnxruntime\\core\\providers\\cuda\\"
        "gpu_data_transfer.cc ; line=73 ; expr=cudaMemcpyAsync(dst_data, src_data, bytes, "
        "cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream.GetHandle()));",
        "https://github.com/C0untFloyd/roop-unleashed/issues/32",
    ),
    Report(
        runtime.Fail,
        "[ONNXRuntimeError] : 1 : FAIL : D:\\a\\_work\\1\\s\\onnxruntime\\core\\providers\\dml\\"
        "DmlExecutionProvider\\src\\ExecutionProvider.cpp(962)\\onnxruntime_pybind11_state.pyd!"
        "00007FFABA30B0B1: (caller: 00007FFABA30B740) Exception(3) tid(5a68) 887A0005 The GPU "
        "device instance has been suspended. Use GetDeviceRemovedReason to determine the "
        "appropriate action.",
        "https://github.com/microsoft/onnxruntime/issues/22700",
    ),
    Report(
        RuntimeError,
        "Exception during initialization: C:\\a\\_work\\1\\s\\onnxruntime\\core\\providers\\dml\\"
        "DmlExecutionProvider\\src\\ExecutionProvider.cpp(938)\\onnxruntime_pybind11_state.pyd!"
        "00007FFEAB9DC972: (caller: 00007FFEAB9DC752) Exception(2) tid(31a68) 887A0007 The GPU "
        "will not respond to more commands, most likely because some other application submitted "
        "invalid commands.\nThe calling application should re-create the device and continue.",
        "https://github.com/microsoft/Olive/issues/1093",
    ),
]
OTHERWISE = [
    Report(
        runtime.RuntimeException,
        "Non-zero status code returned while running InstanceNormalization node. "
        "Name:'InstanceNormalization_172'",
        "https://github.com/microsoft/onnxruntime/issues/13379",
    ),
    Report(
        runtime.Fail,
        "[ONNXRuntimeError] : 1 : FAIL : provider_options_utils.h:31 EnumToName Failed to map enum "
        "value to name: 4147200",
        "https://github.com/pykeio/ort/issues/509",
    ),
]


@pytest.mark.parametrize("report", FULL, ids=lambda report: report.source)
def test_a_full_card_is_out_of_memory(report: Report) -> None:
    with pytest.raises(BackendError) as error, translated_errors():
        raise report.error(report.text)
    assert error.value.out_of_memory


@pytest.mark.parametrize("report", GONE, ids=lambda report: report.source)
def test_a_card_that_is_gone_stopped_answering(report: Report) -> None:
    with pytest.raises(BackendError) as error, translated_errors():
        raise report.error(report.text)
    assert str(error.value) == f"the graphics processor stopped answering: {report.text}"
    assert not error.value.out_of_memory


@pytest.mark.parametrize("report", OTHERWISE, ids=lambda report: report.source)
def test_other_errors_keep_their_text(report: Report) -> None:
    with pytest.raises(BackendError) as error, translated_errors():
        raise report.error(report.text)
    assert (str(error.value), error.value.out_of_memory) == (report.text, False)


def huge(elements: int) -> Graph:
    """Fills a tensor of so many float32 numbers with its input."""
    g = GraphBuilder("huge", {}, OperatorSet(opset=19), DType.F32, Precision.F32)
    x = g.input("x", DType.F32, (1,))
    g.output(g.op("Expand", x, g.integers([elements])), "y", DType.F32, (elements,))
    return g.build({})


@pytest.mark.parametrize("arena", [True, False])
def test_an_allocation_that_fails_is_out_of_memory(arena: bool) -> None:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = arena
    session = OnnxRuntimeSession(huge(1 << 48), options, Provider(CPU), NeverCancelled())
    with pytest.raises(BackendError) as error:
        session.run({"x": np.ones(1, np.float32)})
    assert error.value.out_of_memory
    session.close()


def test_a_run_that_was_terminated_was_cancelled() -> None:
    session = OnnxRuntimeSession(huge(8), ort.SessionOptions(), Provider(CPU), NeverCancelled())
    session.cancel()
    with pytest.raises(RunCancelled):
        session.run({"x": np.ones(1, np.float32)})


def test_no_exception_of_the_runtime_gets_through() -> None:
    ours = {runtime.ModelLoadCanceled}
    names = [name for name in dir(runtime) if isinstance(getattr(runtime, name), type)]
    errors = [kind for name in names if issubclass(kind := getattr(runtime, name), Exception)]
    assert runtime.EPFail in errors
    for kind in errors:
        expected = RunCancelled if kind in ours else BackendError
        with pytest.raises(expected), translated_errors():
            raise kind("said so")
