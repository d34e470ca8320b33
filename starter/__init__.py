"""The starter model: programs to draw its pictures, train it and judge it (`starter/README.md`)."""
