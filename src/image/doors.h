// Doors: how a shared library calls a function of which each rank has a copy. The C library allocates with
// malloc(), and a tool that wraps malloc() (interposers.h) has a copy for each rank; ld.so binds to the
// original only. So in shared libraries each word with the address of an interposer's function gets the
// address of a door instead: a few instructions that jump to the calling rank's copy of the function. Without
// an interposer there are no doors.
#pragma once

#include <memory>

namespace clump::image {

class Image;

/// Makes the doors, for all functions of interposers that shared libraries refer to. Once, when private
/// objects are known and have their snapshots, before there are other threads. Clump's own libraries have no
/// doors (own_calls.h), nor have sanitizers.
void make_doors();

/// The addresses to which the doors lead for a rank that has copies of its own; null if there are no doors.
std::unique_ptr<void*[]> behind_doors(const Image& image);

}  // namespace clump::image
