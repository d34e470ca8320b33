"""Which commands are questions."""

from typing import TypeAlias

from engine.api.messages import (
    CheckPrompt,
    ClearArtifacts,
    InspectCheckpoint,
    InstallPack,
    ListArtifacts,
    PlanJob,
    ReleaseMemory,
    RemovePack,
    ScanDevices,
    VerifyDevices,
)

Query: TypeAlias = (
    ScanDevices
    | VerifyDevices
    | InspectCheckpoint
    | CheckPrompt
    | PlanJob
    | ListArtifacts
    | ClearArtifacts
    | ReleaseMemory
    | InstallPack
    | RemovePack
)
