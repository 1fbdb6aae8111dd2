/* The other half of debug.c. */
int elsewhere;
static int only_here;

void set_elsewhere(int rank) {
  only_here = 2000 + rank;
  elsewhere = only_here - 1000;
}
