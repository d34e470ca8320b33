"""`python -m engine.devices.trial_process`: lists one backend's devices and runs a network on each.

It is a process of its own, because a driver that crashes, hangs or exhausts memory then does so
here. It announces each run before it starts (`engine.devices.trial_messages`), so that a crash can
be attributed to a device.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from backends.registry import BackendReference
from engine.devices.trial_messages import AllReported, DevicesFound, TrialMessage, encode_message
from engine.devices.verdicts import untried
from engine.packs import use_packs
from engine.parent import die_first
from engine.stdio import take_stdio


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trial that the arguments describe, then end the process."""
    parser = argparse.ArgumentParser(prog="trial", description="One backend's trial.")
    parser.add_argument("module")
    parser.add_argument("type_name")
    parser.add_argument("folder", type=Path, help="for what trials share")
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--look", action="store_true", help="only list the devices")
    parser.add_argument("--skip", action="append", default=[], metavar="ID")
    options = parser.parse_args(arguments)
    pipes = take_stdio()
    die_first(options.parent, pipes.commands)
    use_packs()

    def send(message: TrialMessage) -> None:
        os.write(pipes.events, encode_message(message))

    backend = BackendReference("", options.module, options.type_name).create()
    devices = backend.probe()
    found = tuple(untried(backend, device) for device in devices)
    send(DevicesFound(devices=found))
    usable = {device.id for device in found if device.automatic and not device.unusable}
    wanted = [d for d in devices if d.id in usable and d.id not in options.skip]
    if wanted and not options.look:
        # Here, as listing devices needs none of it.
        from engine.devices.trial import Trial

        trial = Trial(backend, options.folder)
        for device in wanted:
            trial.run(device, send)
    send(AllReported())
    # A runtime may hang or crash while it is torn down; everything has been reported.
    os._exit(0)


if __name__ == "__main__":
    main()
