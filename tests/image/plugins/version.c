/* A library of which there are two versions, of the same size. */
int version(void) { return VERSION; }
