"""Notices: failures with what to do about them, and notes."""
