"""Machine code: made, kept, called from Python and from JAX."""
