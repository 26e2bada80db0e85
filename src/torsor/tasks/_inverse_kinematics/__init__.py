"""Inverse kinematics of any frame, batched, within limits."""
