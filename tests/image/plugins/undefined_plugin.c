int nothing_defines_this(void);
int call_it(void) { return nothing_defines_this(); }
