"""Linux: an interpreter built from Debian's sources, and the formats that people install."""
