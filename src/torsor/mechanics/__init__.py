"""What a robot does: one algorithm per file, each written once for every array library, each citing its equation."""
