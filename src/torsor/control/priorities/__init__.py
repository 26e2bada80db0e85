"""Strict priorities within limits, by quadratic programs."""
