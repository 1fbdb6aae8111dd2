// The streams of a rank, for the files that stand in for functions of the C library.
#pragma once

#include <cstdint>
#include <cstdio>

#include "fiber/identity.h"

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

class Image;

// files/stdin.cc

/// Makes this descriptor, which the rank does not own, the rank's standard input; -1: an empty one. Before
/// its constructors run.
void read_input_from(fiber::Identity& rank, int descriptor);
/// The stream that the calling rank has as `stdin` at its begin.
std::FILE* rank_input();
/// The calling rank's `stdin`, as the program has set it.
std::FILE* rank_stdin();
/// From now on `stdin` reads this descriptor of the kernel's.
void use_as_input(int real);
/// freopen() of the rank's `stdin`.
std::FILE* reopen_input(const char* path, const char* mode);

// files/streams.cc

enum class Streams : std::uint8_t { kAll, kLineBuffered };
/// What to do about a stream that another thread of the rank uses at this moment.
enum class WhileBusy : std::uint8_t { kWait, kGoOn };
/// Writes what the streams that the calling rank has opened still hold: 0, or EOF. It leaves other ranks'
/// streams and input alone. `stdout` and `stderr` are not among them: output.h.
int flush_streams(Streams which, WhileBusy while_busy);

// files/stdout.cc

/// Makes the rank's `stdout` and `stderr`. Before its constructors run.
void begin_standard_output(Image& image);
/// The calling rank's `stdout`, as the program has set it.
std::FILE* own_stdout();

/// open() that returns the kernel's lowest number: files/descriptors.cc.
int open_kernels(const char* path, int flags);

/// Calls `is_found` with each open stream of the process, whichever rank has opened it, until it returns true
/// for one. Returns that stream, or null. Meanwhile no rank can open or close a stream, so `is_found` must
/// not wait.
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
