"""Translates a backend's failures into errors with remedies for the user."""

from collections.abc import Generator
from contextlib import contextmanager

from backends.base import BackendError, Device, RefitError, RunCancelled
from engine.api.remedies import UseAnotherDevice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import Cancelled, EngineError, out_of_memory


@contextmanager
def translated_errors(device: Device) -> Generator[None]:
    """Turn BackendError and RunCancelled raised within the block into EngineError and Cancelled.

    The code is OUT_OF_MEMORY, REFIT_FAILED or BACKEND_FAILED.
    """
    try:
        yield
    except RunCancelled as error:
        raise Cancelled from error
    except BackendError as error:
        if error.out_of_memory:
            message = sentence("There is not enough memory on {device}.", device=device.name)
            raise out_of_memory(message, str(error)) from error
        if isinstance(error, RefitError):
            raise EngineError(
                ErrorCode.REFIT_FAILED,
                sentence(
                    "The weights that LoRAs change could not be replaced in the network "
                    "compiled for {device}.",
                    device=device.name,
                ),
                sentence(
                    "Until the next start LoRAs act there in another way, which may take longer."
                ),
                str(error),
            ) from error
        raise EngineError(
            ErrorCode.BACKEND_FAILED,
            sentence("{backend} failed on {device}.", backend=device.backend, device=device.name),
            detail=str(error),
            remedies=(UseAnotherDevice(),),
        ) from error
