// Names in folders that other users write to, too (/tmp).
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <optional>

namespace clump::base {

/// Another user, but root, who has put a link, a FIFO or a socket there. To open it would write where that
/// user wants, or wait for that user, so a file that is to be written is not opened then.
inline std::optional<uid_t> foreign_name_by(const char* path) {
  struct stat info {};
  if (::lstat(path, &info) != 0 || info.st_uid == 0 || info.st_uid == ::geteuid()) return {};
  if (!S_ISLNK(info.st_mode) && !S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode)) return {};
  return info.st_uid;
}

}  // namespace clump::base
