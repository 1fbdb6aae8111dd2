/* What Clump knows CPython by, and no Py_Version: it is before 3.11. */
char _PyRuntime[8];
