"""The engine: from a checkpoint and a request to a saved picture, without Qt and without torch.

Public to the app: `engine.api` and `engine.metadata`. ARCHITECTURE.md lists which package may
import which; import-linter checks it.
"""
