"""Preprocessors: a picture turned into the map that a ControlNet looks at.

`run` runs one by the table of `engine.api.preprocessors`. Resolution and padding follow
sd-webui-controlnet (`scales`), whose maps are OpenCV's; `opencv` does the same arithmetic in NumPy.
"""
