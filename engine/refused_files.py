"""Files that a policy of Windows refuses to load, as Smart App Control does.

Standard library only.
"""

import ctypes
import sys

# ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION
_REFUSED = 4551
MESSAGE = "Windows does not let Safelight load one of its files."
HINT = (
    "Smart App Control, or a rule of this computer's administrator, refuses it, and allows no "
    "exception for a single program. A newer version of Safelight may be known to it."
)


def is_refused(error: BaseException) -> bool:
    """Return True if a library or program was refused; Python tells it by text where it imports."""
    if getattr(error, "winerror", None) == _REFUSED:
        return True
    # In Windows' own language.
    return sys.platform == "win32" and ctypes.FormatError(_REFUSED).strip() in str(error)
