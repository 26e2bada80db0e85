"""Momentum, and the motion of the centre of mass."""
