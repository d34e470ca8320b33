"""A card's libraries that find no memory, beside torch's own allocator."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import pytest

from backends.base import BackendError
from tests.backends.test_errors import OTHERWISE, TORCH


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("text", "is_full"), [*((text, True) for text in TORCH.values()), (OTHERWISE[0], False)]
)
def test_an_error_of_a_library_tells_whether_memory_ran_out(text: str, is_full: bool) -> None:
    torch = pytest.importorskip("torch")
    from backends.torch_device.session import _translated_errors

    with pytest.raises(BackendError) as error, _translated_errors(torch.device("cpu")):
        raise RuntimeError(text)
    assert error.value.out_of_memory is is_full
