/* A library that calls what next_wraps.c wraps, which it needs. */
int count_up(void);
int call_count_up(void) { return count_up(); }
