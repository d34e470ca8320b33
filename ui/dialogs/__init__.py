"""Windows of their own, opened from the main one."""
