"""Code shared by several families, one folder per subject. It imports no family."""
