/* A library whose function others wrap. */
static int count = 0;
int count_up(void) { return ++count; }
