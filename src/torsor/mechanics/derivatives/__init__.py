"""Derivatives of motion, forces, energy and momentum."""
