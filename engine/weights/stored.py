"""The kinds of weights that files hold."""

from backends.base import FileSlice
from engine.weights.int8_rows import Int8Rows
from engine.weights.sources import FileWeight, ScaledSlice

# A weight as a checkpoint's reader finds it.
StoredWeight = FileSlice | ScaledSlice | Int8Rows
# One that can stay in blocks of integers, or be rounded to them.
PackableWeight = FileWeight | ScaledSlice | Int8Rows
