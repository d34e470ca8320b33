"""Pictures made larger: by the networks of the user's own files, or by plain methods.

`reading` recognises a file and reads its sizes, `registry` has the table of architectures, a module
each in `architectures`. `running` runs a network in tiles (`tiles`), `resampling` has the methods
without a file, and `upscale` joins them to a picture of exactly the wanted size.
"""
