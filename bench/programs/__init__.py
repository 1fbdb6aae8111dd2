"""Programs that others have written, timed under Clump and under other MPI libraries: `./dev bench --programs`. README.md says what is where."""
