"""Item models over the lists that `app` holds."""
