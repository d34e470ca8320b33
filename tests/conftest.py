"""Tests draw on no screen unless told to, and none depends on how long something takes."""

import os

from hypothesis import settings

from tests import swiftshader

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
settings.register_profile("safelight", deadline=None)
settings.load_profile("safelight")
swiftshader.offer()
