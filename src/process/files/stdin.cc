// Each rank has a stream of its own as `stdin`, which reads what the rank has as descriptor 0 (standard.h).
// The C library's functions that name no stream read its own `stdin`, which is the first rank's. Here they
// read the calling rank's.

// The header would define some of these functions itself, inline.
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cwchar>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/snapshot.h"
#include "image/symbols.h"
#include "process/files/descriptor_owners.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

/// The input of ranks that get none. One descriptor for all of them.
int empty_input() {
  static const int empty = move_up(open_kernels("/dev/null", O_RDONLY | O_CLOEXEC));
  return empty;
}

}  // namespace

FILE* rank_stdin() { return captured() ? *current_image().variable(&stdin) : stdin; }
FILE* rank_input() { return current_image().state().standard.input; }

void use_as_input(int real) {
  if (FILE* const stream = rank_input()) stream->_fileno = real;
}

void read_input_from(fiber::Identity& rank, int descriptor) {
  Image& image = image_of(&rank);
  begin_standard_output(image);
  const int given = descriptor >= 0 ? descriptor : empty_input();
  static constinit Hidden<FILE*(int, const char*)> open_stream{"fdopen"};
  FILE*& stream = *image.variable(&stdin);
  if (!image.native()) stream = open_stream(given, "r");
  if (stream == nullptr) return;
  stream->_fileno = given;
  image.state().standard.input = stream;
  standard::give(image, STDIN_FILENO, given);
}

FILE* reopen_input(const char* path, const char* mode) {
  static constinit Hidden<FILE*(const char*, const char*, FILE*)> real{"freopen"};
  // The C library closes what it was, and perhaps keeps the number: which another rank may get in between.
  standard::make_private(STDIN_FILENO);
  standard::note_closed(STDIN_FILENO);
  FILE* const stream = real(path, mode, rank_input());
  if (stream == nullptr)
    use_as_input(-1);
  else
    standard::put(STDIN_FILENO, stream->_fileno);
  owners::note_that_caller_has_streams();  // it may write there
  return stream;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int getchar() { return std::getc(rank_stdin()); }
CLUMP_HOST_API int getchar_unlocked() { return getc_unlocked(rank_stdin()); }
CLUMP_HOST_API wint_t getwchar() { return std::getwc(rank_stdin()); }
CLUMP_HOST_API wint_t getwchar_unlocked() { return getwc_unlocked(rank_stdin()); }

}  // extern "C"
