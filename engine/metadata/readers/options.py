"""The sampler and schedule options that have an effect; tools also write others."""

import msgspec

from engine.api.methods import sampler_options_of, schedule_options_of
from engine.api.request import ScheduleOptions
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.readers.values import Values


def read_schedule_options(values: Values, **keys: str) -> ScheduleOptions:
    """Return the schedule options by the tool's keys; 0 stands for the default, None."""
    found = values.read(ScheduleOptions, **keys)
    return ScheduleOptions(**{name: value or None for name, value in found.items()})


def fitting(imported: ImportedRequest) -> ImportedRequest:
    """Return the request without options that its sampler or schedule does not have.

    These had no effect on the picture, and the engine refuses them.
    """
    request = imported.request
    changes = {
        "sampler_options": sampler_options_of(request.sampler, request.sampler_options),
        "schedule_options": schedule_options_of(request.schedule, request.schedule_options),
    }
    return msgspec.structs.replace(imported, request=msgspec.structs.replace(request, **changes))
