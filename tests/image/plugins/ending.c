/* A library with a thread-local object, as C++ has them: its destructor runs when the thread ends, and uses
   other libraries. */
int needed_answer(void);
int bound_answer(void);
int __cxa_thread_atexit_impl(void (*function)(void*), void* argument, void* object);
extern void* __dso_handle;

static void destruct(void* sum) { *(int*)sum = needed_answer() + 10 * bound_answer(); }
/* `sum` gets what the destructor is told. */
int begin_object(int* sum) { return __cxa_thread_atexit_impl(destruct, sum, &__dso_handle); }
