// Constructors and destructors of private objects. Clump runs them for each rank, the first one included, on
// a thread of the rank: the constructors when the rank begins, the destructors when it leaves. So both may
// call MPI and wait for other ranks, and find the rank's own thread-local variables. ld.so runs none of them.
#pragma once

#include "base/status.h"

namespace clump::image {

class Image;
struct Object;

/// Takes the constructors and destructors of an original away from ld.so. Before ld.so has run any of them,
/// while the process has one thread.
base::Status take_from_ld_so(const Object& original);

/// Runs the constructors of the MPI library of a process that is its one rank, and its destructors no more
/// than exit() does. To ld.so a facade needs no MPI library, so the constructors of a library of the program
/// would come before, and may call MPI. When take_from_ld_so() may be called; does nothing in a process that
/// runs already and has opened the library, which it may close.
void construct_mpi(int argc, char** argv, char** environment);

/// The three below are called on a thread of the rank, under the image's lock. Of what the rank has as a copy
/// constructors run once.
///
/// Runs the preinit constructors of the rank's program (DT_PREINIT_ARRAY), before those of its libraries.
void run_preinit(const Image& image);
void construct(Image& image, const Object& object);
void destruct(const Image& image, const Object& object);

}  // namespace clump::image
