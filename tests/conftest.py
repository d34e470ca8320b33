"""Tests draw on no screen unless told to, and none depends on how long something takes."""

import os

from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
settings.register_profile("safelight", deadline=None)
settings.load_profile("safelight")
