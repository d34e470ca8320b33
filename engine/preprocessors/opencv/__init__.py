"""OpenCV's arithmetic on pictures in NumPy, so that maps are those of other tools.

Pictures are uint8 or float32 [height, width, channels]; each module names its source in OpenCV.
"""
