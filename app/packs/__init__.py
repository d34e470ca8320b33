"""Packs: runtimes that are installed on demand, from the list that came with this version.

`catalogue` says which there are, `store` which are installed, `installation` installs one. Nothing
here needs Qt or loads a runtime: a pack is tried in a process of its own.
"""
