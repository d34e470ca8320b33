"""Programs that keep files of the repository up to date."""
