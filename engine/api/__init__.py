"""The boundary between the app and the engine: frozen msgspec structs, nothing else.

`request` holds the settings a person asks for, gaps allowed ("auto"); `record` the settings that
were used, without gaps; `values` the vocabulary of both. Standard library and msgspec only.
"""

from engine.api.record import GenerationRecord, ResolvedRequest, Retry, Timings
from engine.api.request import ComponentFiles, GenerateRequest, InputImage
from engine.api.values import (
    ConventionName,
    ErrorCode,
    ErrorInfo,
    InputRole,
    Phase,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)

__all__ = [
    "ComponentFiles",
    "ConventionName",
    "ErrorCode",
    "ErrorInfo",
    "GenerateRequest",
    "GenerationRecord",
    "InputImage",
    "InputRole",
    "Phase",
    "PrecisionName",
    "PredictionType",
    "ResolvedRequest",
    "Retry",
    "SamplerName",
    "ScheduleName",
    "Timings",
]
