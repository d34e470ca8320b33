"""The command line by which one of our processes starts another: Python with our code alone.

Standard library only, so that small processes start at once.
"""

import sys


def python_command(*arguments: str) -> tuple[str, ...]:
    """Return this interpreter with arguments, isolated, and with texts encoded as in this process.

    Else what a child on Windows writes were in the system's old encoding, which has not the letters
    of every folder's name, and its parent reads UTF-8.
    """
    text = ("-X", "utf8") if sys.flags.utf8_mode else ()
    return sys.executable, "-I", *text, *arguments
