"""Optimal motion with feedback: expansions along a motion, Riccati's recursion, and what follows it."""
