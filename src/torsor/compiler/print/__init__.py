"""Printers: a graph as LLVM IR, C, NumPy or SymPy, and what they share."""
