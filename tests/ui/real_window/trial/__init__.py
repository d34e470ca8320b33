"""A trial by use: everything that once went wrong for people, tried again by hand.

`make trial` runs it and puts a picture of the screen after each step into build/trial. A test is
named after the right behaviour, and its comment begins with what went wrong.
"""
