#include "io/errors.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace clump::io {

namespace {

int class_of(int number) {
  switch (number) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return MPI_ERR_NO_MEM;
    case EOPNOTSUPP:
    case ENOLCK:
    case ENOSYS:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_IO;
  }
}

}  // namespace

base::Status system_error(int number, std::string_view doing, std::string_view file) {
  return base::fail(class_of(number), "cannot {} \"{}\": {}", doing, file,
                    std::error_code(number, std::generic_category()).message());
}

}  // namespace clump::io
