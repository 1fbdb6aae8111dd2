/* Two libraries, of which one needs the other, define the same. */
#ifdef NEEDED
int hook(void) { return 1; }
int call_hook(void) { return hook(); }
#else
int call_hook(void);
int hook(void) { return 2; }
int call_needed(void) { return call_hook(); }
#endif
