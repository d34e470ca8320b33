"""Devices, told in events; to have them tried takes its time, on a thread of its own."""

from threading import Thread

from engine.api.messages import DevicesFound, DeviceVerdict, QueryFailed, VerifyDevices
from engine.devices.verdicts import BackendReport, TriedDevice
from engine.jobs.runner import JobRunner
from engine.server.failures import error_info, speakable
from engine.server.outbox import Put


def devices_found(query: int, runner: JobRunner) -> DevicesFound:
    """What there is, and what "auto" makes of it."""
    devices = runner.services.devices
    return DevicesFound(
        query=query,
        devices=devices.listed(),
        choice=devices.choice(),
        news=devices.has_news(),
    )


def verify_beside(query: VerifyDevices, runner: JobRunner, put: Put) -> None:
    """Have devices tried while other queries are answered and jobs run."""
    Thread(target=_verify, args=(query, runner, put), name="trials", daemon=True).start()


def _verify(query: VerifyDevices, runner: JobRunner, put: Put) -> None:
    try:
        reports = runner.services.devices.verify(
            again=query.again, activity=lambda: runner.activity
        )
        for report, remaining in reports:
            for verdict in _verdicts(query.query, report, remaining):
                put(verdict)
        put(devices_found(query.query, runner))
    except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
        put(QueryFailed(query=query.query, error=error_info(error)))


def _verdicts(query: int, report: BackendReport, remaining: int) -> list[DeviceVerdict]:
    """Those of the devices that were tried; of a backend that never told any, its own."""
    tried = [device for device in report.devices if device.tried]
    if report.problem:
        tried.append(TriedDevice(id="", name="", problem=report.problem))
    return [
        DeviceVerdict(
            query=query,
            backend=report.backend,
            device=speakable(device.name),
            usable=device.works,
            reason=speakable(device.sentence),
            remaining=remaining,
            figures=device.figures,
        )
        for device in tried
    ]
