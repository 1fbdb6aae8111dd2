/* A library with 6 GB of zeros. */
char zeros[6000000000];
int first_of_them(void) { return zeros[0]; }
