"""The systems that trees are built for."""

from collections.abc import Mapping

from installers.inputs import Target
from installers.linux.system import LinuxSystem
from installers.macos.system import MacosSystem
from installers.system import System
from installers.windows.system import WindowsSystem

SYSTEMS: Mapping[Target, System] = {
    Target.LINUX: LinuxSystem(),
    Target.MACOS: MacosSystem(),
    Target.WINDOWS: WindowsSystem(),
}
