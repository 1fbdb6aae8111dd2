/* Two libraries define the same. */
int backend(void) { return BACKEND; }
__thread int backend_of_thread = BACKEND;
