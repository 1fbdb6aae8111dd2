/* The privatisation matrix: a unit, written in C, C++ or Fortran, keeps a number in a variable of some kind,
 * and lies in the program, in a shared library or in a plugin. Each number begins as 7. */
#ifndef CLUMP_TESTS_IMAGE_PROBE_H
#define CLUMP_TESTS_IMAGE_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Adds to the number of that kind and returns it. */
int probe_global(int add);
int probe_function_static(int add);
int probe_thread_local(int add);
int probe_static_object(int add);
int probe_imported(int add);

/* A variable of a library of its own (imported.c): a program that uses it holds it, by a copy relocation. */
extern int imported;
int imported_in_its_library(void);

#ifdef __cplusplus
}
#endif
#endif
