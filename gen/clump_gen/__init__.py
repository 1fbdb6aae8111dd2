"""Writes the C interface of MPI from the standard's machine-readable API and Clump's overlay (gen/overlay)."""
