"""Qt item models of the lists in `app`."""
