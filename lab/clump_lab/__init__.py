"""`clump lab`: the measurements of five papers on clusters of multiprocessors, under any MPI library. README.md of the folder above has a map."""
