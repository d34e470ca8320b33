"""The parts of people that are frozen: body, hands and face."""

PARTS = ((True, True, True), (True, False, False), (False, True, False), (False, False, True))
