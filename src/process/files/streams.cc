// Streams of a rank that have no descriptor of the rank's own below them, and the functions that act on all
// streams of the process: they act on those that the calling rank has opened.
#undef _FORTIFY_SOURCE  // whose header would define some of these functions itself, inline
#include <stdio_ext.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/descriptor_owners.h"
#include "process/files/output.h"
#include "process/files/streams.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

constinit Hidden<int(FILE*)> real_try_lock{"ftrylockfile"};

/// Lets other threads of the rank go on that use a stream.
void pause_a_moment() { fiber::sleep_until(fiber::now() + std::chrono::microseconds(50)); }

/// The next stream to flush, locked; null: none is left, or (`is_busy`) another thread uses those that are.
/// A stream that no rank has opened is passed over while somebody uses it.
FILE* lock_next(Streams which, const std::vector<FILE*>& done, bool& is_busy) {
  is_busy = false;
  return find_stream([&](FILE* stream) {
    const owners::StreamOwner owner = owners::owner_of_stream(stream);
    if (owner == owners::StreamOwner::kOther || output::descriptor_of(stream) != 0) return false;
    if (__fpending(stream) == 0 || (which == Streams::kLineBuffered && __flbf(stream) == 0)) return false;
    if (std::ranges::find(done, stream) != done.end()) return false;
    if (real_try_lock(stream) == 0) return true;
    is_busy |= owner == owners::StreamOwner::kCaller;
    return false;
  });
}

/// Notes a stream that the program has opened. `caller`: the return address of its call.
FILE* keep(FILE* stream, const void* caller) {
  if (!captured()) return stream;
  if (image_at(caller) != nullptr)
    owners::note_stream_of_caller(stream);
  else
    owners::note_that_caller_has_streams();
  return stream;
}

}  // namespace

int flush_streams(Streams which, WhileBusy while_busy) {
  static constinit Hidden<int(FILE*)> flush{"fflush_unlocked"};
  static constinit Hidden<void(FILE*)> unlock{"funlockfile"};
  int result = 0;
  // A stream that another thread of the rank fills all the time is flushed once.
  std::vector<FILE*> done;
  for (;;) {
    bool is_busy = false;
    // The list is locked only while it is looked at: a rank that opens a file does not wait until the reader
    // of another rank's pipe has read. The stream's own lock keeps it open.
    FILE* const stream = lock_next(which, done, is_busy);
    if (stream == nullptr) {
      if (!is_busy || while_busy == WhileBusy::kGoOn) return result;
      pause_a_moment();
      continue;
    }
    const struct Locked {
      FILE* stream;
      ~Locked() { unlock(stream); }
    } locked{stream};
    done.push_back(stream);
    if (flush(stream) != 0) result = EOF;
  }
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API FILE* fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions) noexcept {
  static constinit Hidden<FILE*(void*, const char*, cookie_io_functions_t)> real{"fopencookie"};
  return keep(real(cookie, mode, functions), __builtin_return_address(0));
}
CLUMP_HOST_API FILE* fmemopen(void* memory, size_t size, const char* mode) noexcept {
  static constinit Hidden<FILE*(void*, size_t, const char*)> real{"fmemopen"};
  return keep(real(memory, size, mode), __builtin_return_address(0));
}
CLUMP_HOST_API FILE* open_memstream(char** text, size_t* size) noexcept {
  static constinit Hidden<FILE*(char**, size_t*)> real{"open_memstream"};
  return keep(real(text, size), __builtin_return_address(0));
}
CLUMP_HOST_API FILE* open_wmemstream(wchar_t** text, size_t* size) noexcept {
  static constinit Hidden<FILE*(wchar_t**, size_t*)> real{"open_wmemstream"};
  return keep(real(text, size), __builtin_return_address(0));
}

CLUMP_HOST_API void _flushlbf() {
  static constinit Hidden<void()> real{"_flushlbf"};
  if (!captured()) return real();
  (void)flush_streams(Streams::kLineBuffered, WhileBusy::kWait);
  if (output::started()) (void)current_image().state().output.flush();
}

/// The C library's own flushes all streams, and makes them unbuffered: it closes none.
CLUMP_HOST_API int fcloseall() {
  static constinit Hidden<int()> real{"fcloseall"};
  return captured() ? std::fflush(nullptr) : real();
}

}  // extern "C"
