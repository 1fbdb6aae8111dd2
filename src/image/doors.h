// Doors: a few instructions in place of a function, which find out first where the call goes.
//
// - How a shared library calls a function of which each rank has a copy. The C library allocates with
//   malloc(), and a tool that wraps malloc() (interposers.h) has a copy for each rank; ld.so binds to the
//   original only. So in shared libraries each word with the address of an interposer's function gets the
//   address of a door instead, which jumps to the calling rank's copy.
// - How a rank's library calls a function of the C library that only a process of its own can be given
//   (process_only.h). The door refuses the call, which ends the job.
#pragma once

#include <memory>

namespace clump::image {

class Image;
struct Object;

/// Makes the doors for all functions of interposers that shared libraries refer to. Once, when private
/// objects are known and have their snapshots, before there are other threads. Clump's own libraries have no
/// doors (own_calls.h), nor have sanitizers.
void make_doors();

/// The addresses to which the doors lead for a rank that has copies of its own; null if there are no doors.
std::unique_ptr<void*[]> behind_doors(const Image& image);

/// In a private library, before its snapshot is taken: calls that need a process for each rank go to doors
/// that refuse them. A program that makes such calls itself does not have images. With the loader's lock
/// held, or before there are other threads.
void refuse_calls_of(const Object& library);

}  // namespace clump::image
