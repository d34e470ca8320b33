"""From a request to pictures: resolve, encode, denoise, decode, check.

`generate` is the story on one screen; `stages` runs each network where the plan says and checks
what comes out; `resolve` fills a request's gaps.
"""
