"""Events about devices, and trials of devices on a thread of their own."""

from threading import Thread

from engine.api.messages import DevicesFound, QueryFailed, VerifyDevices
from engine.devices.machine import this_machine
from engine.jobs.runner import JobRunner
from engine.server.failures import error_info
from engine.server.outbox import Put


def devices_found(query: int, runner: JobRunner) -> DevicesFound:
    """Return the event with all devices, in the order that "auto" takes them."""
    devices = runner.services.devices
    return DevicesFound(
        query=query,
        devices=devices.listed(),
        choice=devices.choice(),
        news=devices.has_news(),
        machine=this_machine(),
    )


def verify_beside(query: VerifyDevices, runner: JobRunner, put: Put) -> None:
    """Try devices on another thread, while other queries are answered and jobs run."""
    Thread(target=_verify, args=(query, runner, put), name="trials", daemon=True).start()


def _verify(query: VerifyDevices, runner: JobRunner, put: Put) -> None:
    try:
        for _ in runner.services.devices.verify(
            again=query.again, activity=lambda: runner.activity
        ):
            pass  # each verdict is kept where `devices_found` reads it
        put(devices_found(query.query, runner))
    except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
        put(QueryFailed(query=query.query, error=error_info(error)))
