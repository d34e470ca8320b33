"""Textual inversion embeddings: trained vectors that stand for words (Gal et al. 2022).

`file` and `pictures` read them, `library` finds them by name in folders. `engine.text` reads their
names in prompts; the rooms of text encoders insert their vectors.
"""
