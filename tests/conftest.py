"""Tests draw on no screen unless told to."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
