"""Poses of people: where they are, where their joints are, and the drawing that is made of them.

The networks are DWPose's ONNX files (Yang et al. 2023); their arithmetic and the drawing are those
of sd-webui-controlnet (`annotator/openpose`), which shows both networks RGB.
"""
