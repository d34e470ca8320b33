"""Messages of runtimes about memory that ran out, as users posted them."""

import pytest

from backends.base import BackendError
from backends.errors import tells_of_full_memory
from backends.intel_openvino.session import translated_errors

TORCH = {
    "https://github.com/AUTOMATIC1111/stable-diffusion-webui/issues/14154": (
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"
    ),
    "https://github.com/open-edge-platform/physical-ai-studio/issues/440": (
        "level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"
    ),
    "https://github.com/intel/intel-extension-for-pytorch/issues/629": (
        "XPU out of memory. Tried to allocate 1.00 GiB (GPU 0; 15.56 GiB total capacity)"
    ),
}
OPENVINO = {
    "https://github.com/bes-dev/stable_diffusion.openvino/issues/132": "bad allocation",
    "https://github.com/immich-app/immich/issues/13674": (
        "Exception from src/inference/src/cpp/infer_request.cpp:245:\n"
        "Exception from src/plugins/intel_gpu/src/runtime/ocl/ocl_engine.cpp:185:\n"
        "[GPU] out of GPU resources"
    ),
    "https://github.com/openvinotoolkit/openvino_notebooks/issues/2763": (
        "errcode -6,CL_OUT_OF_HOST_MEMORY,src/gpu/intel/ocl/ocl_gpu_engine.cpp:261"
    ),
    # libstdc++'s words for the first one.
    "https://en.cppreference.com/w/cpp/memory/new/bad_alloc": "std::bad_alloc",
}
OTHERWISE = (
    "CUDA error: an illegal memory access was encountered",
    "level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
    "Placeholder storage has not been allocated on MPS device!",
    "Expected all tensors to be on the same device",
)


@pytest.mark.parametrize("text", TORCH.values(), ids=TORCH)
def test_torchs_words_for_a_full_card_are_known(text: str) -> None:
    assert tells_of_full_memory(text)


@pytest.mark.parametrize("text", OPENVINO.values(), ids=OPENVINO)
def test_openvinos_words_for_full_memory_are_known(text: str) -> None:
    with pytest.raises(BackendError) as error, translated_errors():
        raise RuntimeError(text)
    assert error.value.out_of_memory


@pytest.mark.parametrize("text", OTHERWISE)
def test_other_failures_are_no_lack_of_memory(text: str) -> None:
    assert not tells_of_full_memory(text)
