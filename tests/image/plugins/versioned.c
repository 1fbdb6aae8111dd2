/* Two libraries define the same, in versions of their own. */
#ifdef NUMBER
int number_of(void) { return NUMBER; }
#else
int number_of(void);
int number_used(void) { return number_of(); }
#endif
