"""The starter model: drawing its pictures, training it and judging it (`starter/README.md`)."""
