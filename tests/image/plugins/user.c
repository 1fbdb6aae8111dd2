/* A library that needs version.c. */
int version(void);
int version_of_needed(void) { return version(); }
