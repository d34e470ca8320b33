"""The Gallery: all pictures of the watched folders, found, looked at, compared and sorted out."""
