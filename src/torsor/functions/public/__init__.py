"""The records of the public functions: which algorithm each is, and what the compiler may assume of it."""
