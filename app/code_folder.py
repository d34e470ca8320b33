"""The folder that Safelight's packages lie in, whether as modules or packed into one archive.

Standard library only, and little of it: the launcher asks at every start.
"""

import os


def code_folder() -> str:
    """Return the root of a checkout, or `lib` of an installed tree.

    A tree has the packages in an archive there: one file is read instead of a thousand, each of
    which would fill a block of the disk.
    """
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    return os.path.dirname(packages) if packages.endswith(".zip") else packages  # noqa: PTH120
