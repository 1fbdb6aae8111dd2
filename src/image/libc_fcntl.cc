// fcntl(): on descriptors 0, 1 and 2 it is about the calling rank's (standard.h).
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

int control(int descriptor, int command, void* argument, const void* caller) {
  static constinit Hidden<int(int, int, ...)> real{"fcntl"};
  const int number = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: {
      const int made = standard::duplicate(descriptor, number, command == F_DUPFD_CLOEXEC);
      return number == 0 ? standard::place_lowest(made, caller) : made;
    }
    case F_GETFD:
      if (standard::is_standard(descriptor)) return standard::descriptor_flags(descriptor);
      break;
    case F_SETFD:
      if (standard::is_standard(descriptor)) return standard::set_descriptor_flags(descriptor, number);
      break;
    default:
      break;
  }
  return (*real)(standard::kernel_number(descriptor), command, argument);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return control(descriptor, command, argument, __builtin_return_address(0));
}

CLUMP_HOST_API int fcntl64(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return control(descriptor, command, argument, __builtin_return_address(0));
}

}  // extern "C"
