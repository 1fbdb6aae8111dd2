// What bindings learn from the MPI library, and ask of it, beyond the functions of the standard: by names
// that they look for, as they run over other libraries, too.
#include "host/host.h"

namespace clump::host {

namespace {

/// Written and read by its own thread only: facades of this thread, and the MPI library that they call.
constinit thread_local SpawnCodes spawn_codes{nullptr, 0, false};

/// Set before ranks call MPI, read by all of their threads.
KeepCopied* keep_copied = nullptr;

}  // namespace

void note_codes_of_spawn(const int* array_of_errcodes, int count) {
  const bool are_there = array_of_errcodes == spawn_codes.codes;
  if (are_there || spawn_codes.count == 0) spawn_codes = {spawn_codes.codes, count, are_there};
}

void keep_copied_buffers_by(KeepCopied* keep) { keep_copied = keep; }

}  // namespace clump::host

/// The calling thread's (bindings/common/abi_library.cc).
extern "C" CLUMP_HOST_API clump::host::SpawnCodes* clump_spawn_codes() { return &clump::host::spawn_codes; }

/// bindings/fortran/section.cc
extern "C" CLUMP_HOST_API bool clump_keep_copied(std::intptr_t request,
                                                 const clump::host::CopiedBuffer* buffer) {
  return clump::host::keep_copied(request, *buffer);
}
