// shm_open(): LLVM's and Intel's OpenMP write down, under a name made of the process's number, that a process
// has them, and refuse to be there twice. Each rank has its own copy, as if it was a process, so each has a
// name of its own. All other names are what they are: ranks share memory by them.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "base/types.h"
#include "fiber/identity.h"
#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

constexpr char kRegistration[] = "/__KMP_REGISTERED_LIB_";

class RanksName {
 public:
  explicit RanksName(const char* name) : name_(name) {
    const fiber::Identity* const rank = fiber::identity();
    if (!captured() || rank == nullptr || std::strncmp(name, kRegistration, sizeof kRegistration - 1) != 0)
      return;
    const int length = std::snprintf(own_, sizeof own_, "%s_%d", name, rank->rank);
    if (length > 0 && static_cast<std::size_t>(length) < sizeof own_) name_ = own_;
  }
  operator const char*() const { return name_; }

 private:
  const char* name_;
  char own_[128];
};

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int shm_open(const char* name, int flags, mode_t mode) {
  static constinit Hidden<int(const char*, int, mode_t)> real{"shm_open"};
  return standard::place_lowest(real(static_cast<const char*>(RanksName(name)), flags, mode),
                                __builtin_return_address(0));
}

CLUMP_HOST_API int shm_unlink(const char* name) {
  static constinit Hidden<int(const char*)> real{"shm_unlink"};
  return real(static_cast<const char*>(RanksName(name)));
}

}  // extern "C"
