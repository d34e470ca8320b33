"""The messages about pictures made larger; `engine.api.messages` has the others."""

from engine.api.message import Message
from engine.api.saving import Saving
from engine.api.upscaling import UpscaleOutlook, UpscaleRequest


class PlanUpscale(Message, frozen=True, kw_only=True):
    """Tell the size, memory and time of a picture to make larger. Answered by UpscalePlanned.

    A picture that cannot be made fails with the reason.
    """

    query: int
    request: UpscaleRequest


class RunUpscale(Message, frozen=True, kw_only=True):
    """Make a picture larger and save it in `folder`; a job like those of `RunJob`, in one line."""

    job: str
    request: UpscaleRequest
    folder: str
    saving: Saving = Saving()


class UpscalePlanned(Message, frozen=True, kw_only=True):
    """The answer to PlanUpscale."""

    query: int
    outlook: UpscaleOutlook


class ImageUpscaled(Message, frozen=True, kw_only=True):
    """A picture that was made larger is durably on disk; `source` is the one before."""

    job: str
    path: str
    source: str
    width: int
    height: int
