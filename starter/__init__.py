"""The starter model: how its pictures are drawn, trained, and judged (`starter/README.md`)."""
