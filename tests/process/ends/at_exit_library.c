/* A library that registers exit handlers, for programs that have none of their own. */
#include <stdlib.h>

int register_at_exit(void (*handler)(void)) { return atexit(handler); }
