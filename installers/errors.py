"""The failure of a build."""


class BuildError(Exception):
    """A fault of the build or of what it is made of, told in whole sentences."""
