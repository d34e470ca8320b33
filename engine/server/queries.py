"""Which commands are questions."""

from typing import TypeAlias

from engine.api.messages import (
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
    | PlanJob
    | ListArtifacts
    | ClearArtifacts
    | ReleaseMemory
    | InstallPack
    | RemovePack
)
