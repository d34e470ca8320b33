"""The engine: from a checkpoint and a request to a saved picture, without Qt and without torch.

Public to the app: `engine.api`, `engine.metadata` and `engine.text`. Imports point down:
server -> jobs -> pipeline -> {sampling, text, compile, memory, output} -> families
-> {graphs, checkpoints} -> {metadata, api}.
"""
