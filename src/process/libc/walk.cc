// Walks through folders that change the working directory inside the C library: fts_read() and nftw() with
// FTW_CHDIR. A rank that is a fiber has its own directory (fiber/kernel_state.h). So the directory in which
// such a call has left the kernel thread is noted before any code of the rank runs that may let another rank
// run there.
#include <fts.h>
#include <ftw.h>

#include "base/types.h"
#include "fiber/directory.h"
#include "fiber/fiber.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

void note_directory() {
  if (fiber::rank_fiber() != nullptr) fiber::note_directory();
}

void note_directory_of(int fts_options) {
  if ((fts_options & FTS_NOCHDIR) == 0) note_directory();
}

using Visit = int(const char*, const struct stat*, int, FTW*);

/// The function that the calling thread's innermost nftw() calls.
constinit thread_local Visit* visit_of_caller = nullptr;

int visit(const char* path, const struct stat* status, int kind, FTW* place) {
  note_directory();
  Visit* const visit = visit_of_caller;
  const int result = visit(path, status, kind, place);
  visit_of_caller = visit;  // the function may have begun another walk, and left it by longjmp()
  return result;
}

/// nftw() with FTW_CHDIR.
template <typename Real>
int walk(Real& real, const char* path, Visit* function, int descriptors, int flags) {
  Visit* const before = visit_of_caller;
  visit_of_caller = function;
  const int result = real(path, &visit, descriptors, flags);
  visit_of_caller = before;
  note_directory();
  return result;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API FTSENT* fts_read(FTS* walk) {
  static constinit Hidden<FTSENT*(FTS*)> real{"fts_read"};
  const int options = walk->fts_options;
  FTSENT* const found = real(walk);
  note_directory_of(options);
  return found;
}

CLUMP_HOST_API int fts_close(FTS* walk) {
  static constinit Hidden<int(FTS*)> real{"fts_close"};
  const int options = walk->fts_options;
  const int result = real(walk);
  note_directory_of(options);
  return result;
}

CLUMP_HOST_API int nftw(const char* path, Visit* function, int descriptors, int flags) {
  static constinit Hidden<int(const char*, Visit*, int, int)> real{"nftw"};
  if ((flags & FTW_CHDIR) == 0 || clump::fiber::rank_fiber() == nullptr)
    return real(path, function, descriptors, flags);
  return walk(real, path, function, descriptors, flags);
}

// aliases.txt gives fts64_read() and its kin to the functions above.
static_assert(sizeof(FTS64) == sizeof(FTS) && sizeof(FTSENT64) == sizeof(FTSENT));

}  // extern "C"
