// OpenedFile: what the ranks of one process share of a file that they have opened together.
//
//   File (file.h), one for each rank --> OpenedFile, one for each process: the descriptor, the shared
//   pointer,
//                                        and where the ranks meet in collective calls (round.h)
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "core/comm.h"
#include "fiber/completion.h"
#include "io/domain_buffers.h"
#include "io/hints.h"
#include "io/shared_pointer.h"
#include "io/transfer.h"

namespace clump::io {

class Round;

class OpenedFile final : public base::RefCounted {
 public:
  /// The one that the ranks of the caller's process share, for a communicator that only this file uses. Each
  /// of these ranks calls it once; none of them waits for another one.
  static base::Ref<OpenedFile> shared(const core::Comm& comm, const std::string& name);
  ~OpenedFile() override;

  /// Opens the file for the process. By one rank, before the others go on.
  base::Status open(int amode, const Hints& hints, bool creates);

  /// Ends the descriptor when no access uses it any more, and tells what the system says only now of data
  /// that it has delayed. `sync`: what was written is brought to the medium before. Does nothing the second
  /// time. By the leader, when all ranks of the process have called MPI_File_close.
  base::Status close(bool sync);
  /// Has the system write all data to the medium. Any thread.
  base::Status sync();
  base::Status set_size(Count bytes);
  /// Has the system ask the file server what other hosts have written: on NFS, taking a lock does that.
  /// Nothing where the file system has no locks. `rank`: of the caller, so that no rank waits for another
  /// one.
  void forget_cached(int rank);
  /// Data, or a size, may have been written since the last sync().
  std::atomic<bool> is_written{false};

  // An access that goes on after its call: close() waits for its end. Any thread.
  void begin_use();
  void end_use();

  Target target;
  /// The ranks of this process, in rising order, as ranks of the communicator; the first one is the process's
  /// leader, which speaks with other processes.
  std::span<const int> members() const { return members_; }
  int index_of(int rank) const;

  // Locks for atomic mode (MPI-5.0 section 14.6.1): bytes [begin, end) for the caller alone, with respect to
  // all ranks that lock. Blocks in the kernel. MPI_ERR_UNSUPPORTED_OPERATION if the file system has no locks.
  base::Status lock(Count begin, Count end);
  void unlock(Count begin, Count end);

  /// Held during an access to a stream, whose data stays together then. Ranks, and threads of them.
  std::mutex stream_mutex;

  // Rounds of collective calls.
  std::mutex rounds_mutex;
  std::map<std::uint64_t, std::unique_ptr<Round>> rounds;

  DomainBuffers domain_buffers;

  /// The shared file pointer (shared_pointer.h), if it is in memory that this process can access; null: it is
  /// not.
  SharedWord* shared_word = &own_word;
  SharedWord own_word{0};
  /// Not negative: the place of `shared_word` in the memory that the processes of the node share.
  std::int64_t shared_place = -1;

 private:
  OpenedFile(const core::Comm& comm, std::string name);

  std::vector<int> members_;
  std::mutex lock_mutex_;  // the kernel's locks tell descriptors apart, not ranks

  std::mutex uses_mutex_;  // guards what follows: ranks that begin accesses, threads that end them, close()
  int uses_ = 0;
  fiber::Completion* unused_ = nullptr;  // of a leader in close()
};

}  // namespace clump::io
