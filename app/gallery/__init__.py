"""The pictures of the user's folders: found, indexed, searched, marked, and small ones to show.

`index.GalleryIndex` is the room's face; its values are in `rows` and `query`. Nothing here knows
widgets, and nothing but marks is lost when the index is deleted: files are the truth.
"""
