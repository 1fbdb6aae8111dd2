/* A library that uses what others define, which it does not name. */
int backend(void);
extern __thread int backend_of_thread;
int optional(void) __attribute__((weak));

int (*address)(void) = backend;

int solve(void) { return backend() + 10 * address() + 100 * backend_of_thread + (optional != 0 ? 1000 : 0); }
