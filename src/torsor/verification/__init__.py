"""The identities of the theory on one robot, and the same numbers from other libraries."""
