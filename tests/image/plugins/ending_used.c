/* A library that a thread's destructor in ending.c uses. Once the library has ended, it says so. */
static int is_there = 1;
int ANSWER(void) { return is_there ? 7 : -1; }
__attribute__((destructor)) static void end(void) { is_there = 0; }
