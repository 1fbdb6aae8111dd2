/* In the place of a library of a module, whose procedures are in libmpi_mpifh.so.40. */
