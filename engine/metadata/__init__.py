"""The metadata of pictures: reading how a picture was made. Public to the app; decodes no pixels.

`png` reads and writes text chunks, `infotext` is AUTOMATIC1111's text, `record` converts our record
to both of its notations, `readers` turns a picture's texts into a request.
"""
