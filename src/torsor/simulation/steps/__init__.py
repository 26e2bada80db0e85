"""One step of time, one method per file: pure functions of a rate, on the manifold, for arrays of any library."""
