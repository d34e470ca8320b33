"""ONNX files that people have: read without running anything, and refused where they could harm."""
