/* Two libraries need each other. */
#ifdef FIRST
int second(void);
static int calls;
int first(void) { return ++calls; }
int call_second(void) { return second(); }
#else
int first(void);
int second(void) { return 10 * first(); }
#endif
