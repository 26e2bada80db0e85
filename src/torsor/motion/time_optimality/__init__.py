"""The least time along a path: what `torsor.motion.time_optimal` is made of."""
