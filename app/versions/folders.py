"""The folder of versions. Standard library only: the launcher looks there before anything else."""

import os
import sys
from collections.abc import Mapping


def versions_folder(environment: Mapping[str, str]) -> str:
    """Return the folder of this user's versions: SAFELIGHT_VERSIONS, or one in the user's data."""
    named = environment.get("SAFELIGHT_VERSIONS")
    if named:
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111 (fast start)
    return os.path.join(_user_data(environment), "safelight", "versions")  # noqa: PTH118


def _user_data(environment: Mapping[str, str]) -> str:
    """Return the system's folder of a user's data, as platformdirs finds it."""
    if sys.platform == "win32":
        default, named = "~\\AppData\\Local", environment.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        default, named = "~/Library/Application Support", ""
    else:
        default, named = "~/.local/share", environment.get("XDG_DATA_HOME", "").strip()
    return named or os.path.expanduser(default)  # noqa: PTH111
