"""Downloads: the one part of the app that connects to other machines, when a person asks."""
