"""Preprocessors beside OpenCV's arrays and the tools that their maps come from."""
