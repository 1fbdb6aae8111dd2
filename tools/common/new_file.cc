#include "common/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/random.h"

namespace clump::tools {

namespace {

constexpr int kMostLinks = 40;  ///< as the kernel has it

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Whether a link stands for a descriptor of a process (/dev/fd/63 leads to one): it leads to what is open,
/// not to a name.
bool is_of_descriptor(const std::string& link) {
  struct statfs system {};
  return ::statfs(folder_of(link).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/// Those that root has made (/dev/stdout) are as good as the user's own.
bool is_trusted(const struct stat& info) { return info.st_uid == ::geteuid() || info.st_uid == 0; }

/// Follows the user's own links. What is found is none, or is not his, or is one of a descriptor; `info`: its
/// own, as far as it is there.
std::string follow(std::string path, bool& is_there, struct stat& info) {
  for (int links = 0; links < kMostLinks; ++links) {
    is_there = ::lstat(path.c_str(), &info) == 0;
    if (!is_there || !S_ISLNK(info.st_mode) || !is_trusted(info) || is_of_descriptor(path)) break;
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || length == sizeof target) break;
    const std::string found(target, static_cast<std::size_t>(length));
    path = found.front() == '/' ? found : folder_of(path) + "/" + found;
  }
  return path;
}

/// What is written in place: it has no contents that a new file could have instead.
bool is_stream(const struct stat& info) {
  return S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) ||
         (S_ISFIFO(info.st_mode) && info.st_uid == ::geteuid());
}
bool is_descriptor(const std::string& path, const struct stat& info) {
  return S_ISLNK(info.st_mode) && is_trusted(info) && is_of_descriptor(path);
}

/// Whether it is another user's, and the folder (/tmp) lets no other user replace it.
bool is_kept(const std::string& path, const struct stat& info) {
  struct stat folder {};
  const uid_t user = ::geteuid();
  return user != 0 && info.st_uid != user && ::stat(folder_of(path).c_str(), &folder) == 0 &&
         (folder.st_mode & S_ISVTX) != 0 && folder.st_uid != user;
}
/// Whether a new file cannot take the place of the user's own: its folder is not his, or it is a mount (a
/// container's). It has no other name, so what is written to it is seen where he has named it.
bool is_written_in_place(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || info.st_nlink != 1) return false;
  if (::access(folder_of(path).c_str(), W_OK) != 0) return true;
  struct statx more {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &more) == 0 &&
         (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}
std::string words_for_owner(const struct stat& info) {
  return fmt::format("another user (uid {}) has put something of that name there", info.st_uid);
}

}  // namespace

NewFile::NewFile(const std::string& path) {
  if (open(path)) return;
  if (why_.empty()) fails(errno);
  if (stream_ != nullptr) std::fclose(std::exchange(stream_, nullptr));
}

NewFile::~NewFile() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool NewFile::fails(int error) {
  why_ = std::strerror(error);
  return false;
}

bool NewFile::open(const std::string& path) {
  bool is_there = false;
  struct stat info {};
  const std::string real = follow(path, is_there, info);
  const bool is_of_open_file = is_there && is_descriptor(real, info);
  if (is_there && S_ISDIR(info.st_mode)) return fails(EISDIR);
  if (is_there && is_kept(real, info)) {
    why_ = words_for_owner(info);
    return false;
  }
  if (!is_of_open_file && (!is_there || (!is_stream(info) && !is_written_in_place(real, info)))) {
    const bool is_own = is_there && S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
    return open_beside(real) && (!is_own || ::fchmod(::fileno(stream_), info.st_mode & 0777) == 0);
  }
  // A FIFO without a reader is refused (ENXIO), and not waited for.
  const int flags =
      O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (is_of_open_file ? 0 : O_NOFOLLOW);
  const int file = ::open(real.c_str(), flags);
  if (file < 0 && errno == ENXIO && S_ISFIFO(info.st_mode)) {
    why_ = "it is a FIFO from which nothing reads";
    return false;
  }
  if (file < 0) return false;
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  stream_ = ::fdopen(file, "w");
  return stream_ != nullptr;
}

bool NewFile::open_beside(const std::string& path) {
  path_ = path;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const std::string fresh = fmt::format("{}/.clump-{:016x}", folder_of(path), base::random_number());
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return false;
    temporary_ = fresh;
    stream_ = ::fdopen(file, "w");
    return stream_ != nullptr;
  }
  return false;
}

bool NewFile::finish() {
  std::FILE* const stream = stream_;
  stream_ = nullptr;
  const bool is_written = std::fflush(stream) == 0 && std::ferror(stream) == 0;
  const int error = errno;
  const bool is_closed = std::fclose(stream) == 0;
  if (!is_written || !is_closed) return fails(is_written ? errno : error);
  if (path_.empty()) return true;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fails(errno);
  temporary_.clear();
  return true;
}

bool may_write(const std::string& path, std::string& why) {
  why.clear();
  bool is_there = false;
  struct stat info {};
  const std::string real = follow(path, is_there, info);
  if (is_there && (is_stream(info) || is_descriptor(real, info) || is_written_in_place(real, info))) {
    if (::access(real.c_str(), W_OK) != 0) why = std::strerror(errno);
    return why.empty();
  }
  if (is_there && S_ISREG(info.st_mode) && ::access(real.c_str(), W_OK) != 0)
    why = std::strerror(errno);
  else if (is_there && is_kept(real, info))
    why = words_for_owner(info);
  else
    why = NewFile(path).why();
  return why.empty();
}

}  // namespace clump::tools
