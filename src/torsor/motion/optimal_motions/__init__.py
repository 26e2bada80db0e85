"""Optimal motions as finite problems: splines, what is computed at their nodes, and sequential quadratic programming."""
