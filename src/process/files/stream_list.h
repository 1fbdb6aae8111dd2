// The C library's list of all streams of the process. A stream that is in it is open, whichever rank has
// opened it.
#pragma once

#include <cstdio>

// Exported by the C library for its own tools.
extern "C" {
void _IO_list_lock();
void _IO_list_unlock();
void _IO_list_resetlock();
void* _IO_iter_begin();
void* _IO_iter_end();
void* _IO_iter_next(void* place);
std::FILE* _IO_iter_file(void* place);
}

namespace clump::image {

/// Calls `is_found` with each stream, until it returns true for one. Returns that stream, or null. Meanwhile
/// no rank can open or close a stream, so `is_found` must not wait.
template <typename IsFound>
std::FILE* find_stream(IsFound is_found) {
  const struct Locked {
    Locked() { _IO_list_lock(); }
    ~Locked() { _IO_list_unlock(); }
  } locked;
  for (void* place = _IO_iter_begin(); place != _IO_iter_end(); place = _IO_iter_next(place))
    if (std::FILE* const stream = _IO_iter_file(place); is_found(stream)) return stream;
  return nullptr;
}

}  // namespace clump::image
