/* What an argument may be at a rank where the standard says that it means nothing there: whatever an
   uninitialised variable holds. */
#ifndef CLUMP_TESTS_RUBBISH_H
#define CLUMP_TESTS_RUBBISH_H

#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

static union {
  unsigned char bytes[16];
  void* pointer;
  int number;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
  MPI_Group group;
  MPI_Info info;
} rubbish;

enum { RUBBISH_KINDS = 4 };
/* Another one each time: no address, the address of memory that nobody may read, all bits, and a small
   number. Of the last two one is MPI_IN_PLACE in each ABI. */
static inline void choose_rubbish(int kind) {
  static void* closed = NULL;
  if (closed == NULL) closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(rubbish.bytes, kind == 0 ? 0x5a : kind == 2 ? 0xff : 0, sizeof rubbish.bytes);
  if (kind == 1) rubbish.pointer = closed;
  if (kind == 3) rubbish.pointer = (void*)1;
}

/* The argument where it means something, rubbish elsewhere. */
#define POINTER(means, value) ((means) ? (void*)(value) : rubbish.pointer)
#define NUMBER(means, value) ((means) ? (value) : rubbish.number)
#define TYPE(means, value) ((means) ? (value) : rubbish.type)

#endif
