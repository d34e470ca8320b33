"""The installers: one tree of interpreter, packages and our code, in each system's formats."""
