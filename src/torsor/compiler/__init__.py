"""A small compiler: trace a function of arrays into a graph of scalars, simplify it, and print or run it.

It knows nothing of robots.
"""
