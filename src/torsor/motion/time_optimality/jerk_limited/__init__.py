"""Least time with limits of jerk too: an interior-point method for the speed along a first, slow motion."""
