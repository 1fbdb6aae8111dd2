// Code without unwind tables, as that of assemblers and of compilers at run time.
#include <pthread.h>

void* leave(void* argument) { pthread_exit(argument); }
