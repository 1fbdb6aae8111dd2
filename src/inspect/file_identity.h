// Which version of a file it is: a path may have another one tomorrow.
#pragma once

#include <sys/stat.h>

#include <ctime>

namespace clump::image {

/// The file and its version, as the file system tells them apart. Immutable.
struct FileIdentity {
  FileIdentity() = default;
  explicit FileIdentity(const struct stat& info)
      : device(info.st_dev), number(info.st_ino), bytes(info.st_size), written(info.st_mtim) {}

  dev_t device = 0;
  ino_t number = 0;  ///< 0: there is no such file
  off_t bytes = 0;
  timespec written{};

  bool same_file(const FileIdentity& other) const {
    return number != 0 && device == other.device && number == other.number;
  }
  /// The same file, and nobody has written to it in between, as far as its time tells.
  bool same_version(const FileIdentity& other) const {
    return same_file(other) && bytes == other.bytes && written.tv_sec == other.written.tv_sec &&
           written.tv_nsec == other.written.tv_nsec;
  }
};

}  // namespace clump::image
