/* In the place of libopen-pal.so.40: the names that libmpi_cxx.so.40 takes of it, so that a program with the
   C++ bindings needs nothing else of Open MPI's. The objects have the sizes that Open MPI 4's have, and no
   one else reads them. */
#include <stdio.h>
#include <stdlib.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int opal_class_init_epoch = 1;
PUBLIC _Bool opal_uses_threads;
PUBLIC long opal_list_item_t_class[8];

PUBLIC void opal_class_initialize(void* class) {
  (void)class;
  fprintf(stderr,
          "opal_class_initialize is a function of Open MPI's own parts, which Clump does not have: "
          "MPI's C++ bindings call it for keys, error handlers and operations of the program\n");
  exit(1);
}
