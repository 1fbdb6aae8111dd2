#include "io/opened.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/rank.h"
#include "io/errors.h"
#include "io/round.h"

namespace clump::io {

namespace {

using base::Status;

/// Files that some ranks of this process are about to open, by context and rank 0 of the communicator.
struct Opening {
  std::mutex mutex;
  struct Entry {
    base::Ref<OpenedFile> file;
    std::size_t joined = 0;
  };
  std::map<std::pair<core::ContextId, int>, Entry> entries;

  static Opening& instance() {
    static auto& only = *new Opening;
    return only;
  }
};

int flags_of(int amode, bool creates) {
  int flags = O_CLOEXEC;
  if ((amode & MPI_MODE_RDONLY) != 0) flags |= O_RDONLY;
  if ((amode & MPI_MODE_WRONLY) != 0) flags |= O_WRONLY;
  if ((amode & MPI_MODE_RDWR) != 0) flags |= O_RDWR;
  if (creates && (amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (creates && (amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  return flags;
}

/// Of the bytes of a view that has no end; l_len 0 stands for all up to the end.
struct flock range(short type, Count begin, Count end) {
  struct flock wanted = {};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = begin;
  wanted.l_len = end - begin;
  return wanted;
}

}  // namespace

base::Ref<OpenedFile> OpenedFile::shared(const core::Comm& comm, const std::string& name) {
  Opening& opening = Opening::instance();
  const std::pair key(comm.context, comm.group->world_rank(0));
  const std::lock_guard lock(opening.mutex);
  Opening::Entry& entry = opening.entries[key];
  if (!entry.file) entry.file = base::Ref<OpenedFile>(new OpenedFile(comm, name));
  base::Ref<OpenedFile> file = entry.file;
  if (++entry.joined == file->members_.size()) opening.entries.erase(key);
  return file;
}

OpenedFile::OpenedFile(const core::Comm& comm, std::string name) {
  target.name = std::move(name);
  for (int rank = 0; rank < comm.size(); ++rank)
    if (comm.owner.world.ranks[static_cast<std::size_t>(comm.group->world_rank(rank))] != nullptr)
      members_.push_back(rank);
}

OpenedFile::~OpenedFile() {  // open: the program has not called MPI_File_close
  if (target.descriptor >= 0) ::close(target.descriptor);
}

int OpenedFile::index_of(int rank) const {
  return static_cast<int>(std::ranges::lower_bound(members_, rank) - members_.begin());
}

Status OpenedFile::open(int amode, const Hints& hints, bool creates) {
  const auto try_with = [&](int flags) {
    int descriptor;
    do descriptor = ::open(target.name.c_str(), flags, hints.permissions);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
  };
  int descriptor = try_with(flags_of(amode, creates));
  // Rank 0 has made the file. On NFS a host may remember for half a minute that it was not there; it asks the
  // server when it is to make the file itself. If it can do so, it does not see the file of rank 0.
  if (descriptor < 0 && errno == ENOENT && !creates && (amode & MPI_MODE_CREATE) != 0) {
    descriptor = try_with(flags_of(amode, creates) | O_CREAT | O_EXCL);
    if (descriptor >= 0) {
      ::close(descriptor);
      ::unlink(target.name.c_str());
      return base::fail(
          MPI_ERR_NO_SUCH_FILE,
          "cannot open \"{}\": rank 0 has made it, but on this host it is not there: the ranks' hosts "
          "do not share its directory",
          target.name);
    }
    if (errno == EEXIST) descriptor = try_with(flags_of(amode, creates));
  }
  if (descriptor < 0) return system_error(errno, "open", target.name);
  struct stat about = {};
  if (::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    ::close(descriptor);
    return system_error(EISDIR, "open", target.name);
  }
  target.descriptor = descriptor;
  target.is_stream =
      (amode & MPI_MODE_SEQUENTIAL) != 0 && ::lseek(descriptor, 0, SEEK_CUR) < 0 && errno == ESPIPE;
  return {};
}

Status OpenedFile::sync() {
  // relaxed: a rank's thread that writes beside this call does not know whether its data is included.
  is_written.store(false, std::memory_order_relaxed);
  int outcome;
  do outcome = ::fsync(target.descriptor);
  while (outcome != 0 && errno == EINTR);
  if (outcome == 0 || errno == EINVAL) return {};  // EINVAL: it has no medium, as a pipe
  return system_error(errno, "write all data to the medium of", target.name);
}

Status OpenedFile::set_size(Count bytes) {
  is_written.store(true, std::memory_order_relaxed);
  int outcome;
  do outcome = ::ftruncate(target.descriptor, bytes);
  while (outcome != 0 && errno == EINTR);
  if (outcome == 0) return {};
  return system_error(errno, fmt::format("set the size to {} of", bytes), target.name);
}

void OpenedFile::forget_cached(int rank) {
  constexpr Count kFarAway = Count{1} << 62;  // where no file has data
  if (lock(kFarAway + rank, kFarAway + rank + 1).ok()) unlock(kFarAway + rank, kFarAway + rank + 1);
}

void OpenedFile::begin_use() {
  const std::lock_guard lock(uses_mutex_);
  ++uses_;
}

void OpenedFile::end_use() {
  fiber::Completion* unused = nullptr;
  {
    const std::lock_guard lock(uses_mutex_);
    if (--uses_ == 0) unused = std::exchange(unused_, nullptr);
  }
  if (unused != nullptr) unused->signal();
}

Status OpenedFile::close(bool sync) {
  if (target.descriptor < 0) return {};
  fiber::Completion unused;
  bool waits = false;
  {
    const std::lock_guard lock(uses_mutex_);
    waits = uses_ > 0;
    if (waits) unused_ = &unused;
  }
  if (waits) unused.wait();
  const Status synced = sync && is_written.load(std::memory_order_relaxed) ? this->sync() : Status();
  // Not repeated after EINTR: Linux has closed it then.
  const bool closed = ::close(std::exchange(target.descriptor, -1)) == 0 || errno == EINTR;
  if (!synced.ok()) return synced;
  return closed ? Status() : system_error(errno, "close", target.name);
}

Status OpenedFile::lock(Count begin, Count end) {
  lock_mutex_.lock();
  struct flock wanted = range(F_WRLCK, begin, end);
  // A file that is only read can have no lock for writing.
  if ((::fcntl(target.descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) wanted.l_type = F_RDLCK;
  int outcome;
  do outcome = ::fcntl(target.descriptor, F_OFD_SETLKW, &wanted);
  while (outcome < 0 && errno == EINTR);
  if (outcome == 0) return {};
  const int reason = errno == EINVAL ? EOPNOTSUPP : errno;
  lock_mutex_.unlock();
  return system_error(reason, "lock (for atomic mode)", target.name);
}

void OpenedFile::unlock(Count begin, Count end) {
  struct flock wanted = range(F_UNLCK, begin, end);
  static_cast<void>(::fcntl(target.descriptor, F_OFD_SETLK, &wanted));
  lock_mutex_.unlock();
}

}  // namespace clump::io
