/* A shared library of the program's own. */
int library_value = 100;

int library_add(int n) { return library_value += n; }
int* library_address(void) { return &library_value; }
