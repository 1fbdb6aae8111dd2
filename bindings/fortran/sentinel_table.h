/* The sentinels as a table: variables whose addresses are MPI_IN_PLACE, MPI_STATUS_IGNORE and their kin. For
 * C and C++.
 *
 * In mpif.h the variables are common blocks, so each program or library that includes it has some of its own,
 * and ld.so gives all uses of a name one address, which this library sees in its global offset table. Where
 * ld.so does not, libclump_host.so does so when it loads images and plugins (src/image/sentinels.h): it finds
 * both variables below by their names, binds what has come in to the addresses of the first, and notes in the
 * second the blocks that the linker has bound already (-Bsymbolic). Over another MPI library the rules of
 * ld.so alone count. */
#pragma once

struct clump_sentinel {
  const char* name; /* null: behind the last one */
  void* begin;      /* the variable that this name has for this library */
  unsigned long bytes;
};

/* A variable of the same name that another object uses in the place of ours. */
struct clump_other_sentinel {
  void* begin;
  void* ours;
  unsigned long bytes;
};

#define CLUMP_MOST_OTHER_SENTINELS 2048

/* Written by libclump_host.so under a lock of its own, read by any thread of the rank: `count` is stored
 * last. */
struct clump_other_sentinels {
  int count;
  struct clump_other_sentinel all[CLUMP_MOST_OTHER_SENTINELS];
};

#define CLUMP_SENTINEL(variable) \
  { #variable, (void*)&variable, sizeof variable }

#ifdef __cplusplus
extern "C" {
extern const struct clump_sentinel mpi_clump_sentinels_[] __attribute__((visibility("default")));
extern struct clump_other_sentinels mpi_clump_other_sentinels_ __attribute__((visibility("protected")));
}

namespace clump::fortran {

/// What own_sentinel() does when there are `count` blocks of others.
[[gnu::cold]] void* among_others(void* address, int count);

/// A sentinel of another object becomes ours; any other address stays as it is. Sentinels have parts: the
/// distance from the begin is kept.
template <typename T>
T* own_sentinel(T* address) {
  // acquire: pairs with the release in image::add_own_sentinels()
  const int count = __atomic_load_n(&mpi_clump_other_sentinels_.count, __ATOMIC_ACQUIRE);
  if (count == 0) [[likely]]
    return address;
  return static_cast<T*>(among_others(const_cast<void*>(static_cast<const void*>(address)), count));
}

}  // namespace clump::fortran
#endif
