// Doors: how a shared library calls what each rank has a copy of. The C library allocates with malloc(), and
// a tool that wraps malloc() (interposers.h) has a copy for each rank; ld.so knows of the original only. So
// the words of shared libraries that hold a function of an interposer are made to hold a door, a few
// instructions that go on to the calling rank's copy of the function. A program without an interposer has
// none.
#pragma once

#include <memory>

namespace clump::image {

class Image;

/// Puts doors before the functions of interposers that shared libraries refer to. Once, when private objects
/// are known and have their snapshots, before other threads. Clump's own libraries have none (own_calls.h),
/// nor have sanitizers.
void make_doors();

/// Where the doors lead for a rank that has copies of its own; null if there are none.
std::unique_ptr<void*[]> behind_doors(const Image& image);

}  // namespace clump::image
