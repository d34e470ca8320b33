"""The place of the user's models: their list, where to get more, and the folders looked into."""
