// Requests (MPI-5.0 section 3.7): what MPI_Wait and MPI_Test work on, whatever kind of operation is behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "core/awaited.h"
#include "core/comm.h"
#include "core/handle_table.h"
#include "datatype/datatype.h"
#include "fiber/completion.h"

namespace clump::core {

class File;
class Window;

/// The result of a completed operation; it goes into the user's MPI_Status.
struct Result {
  int source = MPI_ANY_SOURCE;  ///< the defaults are those of an "empty" status (MPI-5.0 section 3.7.3)
  int tag = MPI_ANY_TAG;
  int error = MPI_SUCCESS;
  bool cancelled = false;
  Count bytes = 0;  ///< received, packed size
};

/// Something that is under way, as the thread that carries it out sees it: that thread writes `result`, then
/// calls complete(). Most operations are Requests; one that a call keeps on its stack and waits for itself
/// needs no more than this.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Completes the operation, whose `result` is written, and wakes the thread that waits. The caller's last
  /// access; any thread.
  [[gnu::always_inline]] void complete() {
    if (completion.signal()) [[unlikely]]
      end_abandoned_request();
  }

  /// The same for a caller that most likely has `completion` in its cache.
  [[gnu::always_inline]] void complete_near() {
    if (completion.signal_near()) [[unlikely]]
      end_abandoned_request();
  }

  fiber::Completion completion;
  Result result;

 private:
  [[gnu::cold]] void end_abandoned_request();
};

/// A buffer that bindings have copied for an operation, as the copy of a section of a Fortran array
/// (bindings/fortran/section.h). The functions are called by the thread that starts, completes or frees the
/// operation; free() may come from the thread that completes one whose request the program has freed.
struct CopiedBuffer {
  void* copy;
  void (*take)(void* copy);       ///< from the program's buffer: a persistent operation starts
  void (*give_back)(void* copy);  ///< the operation is complete; again: does nothing until take()
  void (*free)(void* copy);       ///< gives back before, if that is due
};
class CopiedBuffers {
 public:
  CopiedBuffers() = default;
  CopiedBuffers(const CopiedBuffers&) = delete;
  CopiedBuffers& operator=(const CopiedBuffers&) = delete;
  ~CopiedBuffers() {
    for (const CopiedBuffer& one : all) one.free(one.copy);
  }
  std::vector<CopiedBuffer> all;
};

/// Base of every operation that a user can hold a request of. The user's handle owns it until it is completed
/// (or, for a persistent one, freed).
class Request : public Operation {
 public:
  enum class State : std::uint8_t { kInactive, kActive };
  /// Kinds of requests, for calls that take one kind only.
  enum class Kind : std::uint8_t {
    kOrdinary,
    kPartitionedReceive,
    kGeneralized,      ///< of this kind and of the following ones, is_to_be_asked()
    kFile,             ///< a read whose data functions of the program convert
    kPartitionedSend,  ///< mpiexec --check looks at the partitions
    kChecked,          ///< mpiexec --check looks at the whole operation
    kComputes,         ///< threads that compute for the owner leave floating-point exceptions to it
  };

  Request() = default;
  explicit Request(Kind kind) : kind(kind) {}
  virtual ~Request() = default;

  // Requests are made and deleted often: each thread keeps the memory of some for the next ones. Any thread
  // may delete a request.
  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size) noexcept;
  static void* operator new(std::size_t, void* place) noexcept { return place; }

  /// Keeps the communicator and the type alive as long as the operation, which outlives the call that makes
  /// it. Once.
  void uses(Comm& its_comm, const datatype::Datatype& its_type) {
    comm.fill(&its_comm);
    if (!its_type.is_predefined()) type.fill(&its_type);
  }

  /// MPI_Start; only for persistent requests, and only when inactive.
  virtual base::Status start();
  /// MPI_Cancel: may leave the operation as it is. Only for active operations.
  virtual base::Status cancel();

  /// Whether the result is complete only after ask(). The call that gives the result to the user calls ask();
  /// `keep`: a later call will give it again.
  bool is_to_be_asked() const { return kind >= Kind::kGeneralized; }
  virtual void ask(bool /*keep*/) {}
  /// Whether something is left to do for the result, by finish_result().
  bool has_unfinished_result() const { return is_to_be_asked() || copied != nullptr; }
  /// Calls ask(), and brings the copied buffers' data to the program.
  void finish_result(bool keep);

  /// The rank of the job that the operation waits for; negative: none, several, or unknown.
  virtual int awaited() const { return MPI_UNDEFINED; }
  /// What a start of a persistent operation sends, in one message, and to which rank of the job.
  struct Sending {
    int peer = MPI_PROC_NULL;  ///< nothing is sent
    int tag = 0;
    Count bytes = 0;
  };
  virtual Sending sending() const { return {}; }

  enum class WaitsFor : std::uint8_t { kThis, kAny };
  /// Called before the owner waits for this request, or for any of several, and may sleep. Does work that no
  /// other thread may do soon. Never blocks.
  virtual void before_wait(WaitsFor /*what*/) {}
  /// The file, or the window, whose error handler is called, instead of a communicator's; null: none.
  virtual File* file() const { return nullptr; }
  virtual Window* window() const { return nullptr; }
  /// Appends what the operation waits for. Only while it is not complete.
  virtual void tell(std::vector<Awaited>& all) const { all.emplace_back(); }
  /// Waits until the operation is complete.
  void wait() {
    if (completion.done()) return;
    before_wait(WaitsFor::kThis);
    being_awaited = this;
    completion.wait();
    being_awaited = nullptr;
  }
  /// The request that the calling thread of control waits for; null: it waits for no single request.
  static inline constinit thread_local const Request* being_awaited = nullptr;

  /// Lets an operation go on without its owner (MPI_Request_free): it owns itself until it is complete. A
  /// request on a stack has no unique_ptr, so it cannot be detached.
  static void detach(std::unique_ptr<Request> request);
  /// Whether the user may call MPI_Request_free while it is active.
  virtual base::Status may_detach() const { return {}; }

  MPI_Request handle = MPI_REQUEST_NULL;
  std::unique_ptr<CopiedBuffers> copied;  ///< null: none. Of the rank's threads, as the request is
  base::Ref<Comm> comm;                   ///< the communicator whose error handler is called; may be null
  datatype::Ref type;                     ///< keeps a derived datatype alive while the operation uses it
  State state = State::kActive;
  bool persistent = false;
  bool reusable = false;        ///< see Rank::make_reusable()
  bool was_started = false;     ///< a persistent one was started at least once (mpiexec --check)
  bool was_waited_for = false;  ///< and was waited for before that
  Kind kind = Kind::kOrdinary;

 protected:
  /// Called when the operation is complete and its owner has abandoned it. The last access. This version ends
  /// an operation that was detached.
  [[gnu::cold]] virtual void end_abandoned();

 private:
  friend class Operation;
  friend class Rank;
  /// Makes the request as it was when it was made, but for its handle's number and the parts of `result` that
  /// every operation of its class writes. It keeps nothing alive any more.
  void renew() {
    static_cast<void>(base::Ref<Comm>(std::move(comm)));
    if (type) [[unlikely]]
      type = {};
    completion.reset();
    result.error = MPI_SUCCESS;
    result.cancelled = false;
  }
  std::unique_ptr<Request> self_;      ///< set by detach()
  HandleTable<Request>::Place place_;  ///< the place of one that is used again
  Request* next_spare_ = nullptr;
};

/// The handle that the user gets for an operation of which nothing is left to report when its call returns,
/// such as a send whose buffer is free again. One handle stands for all of them, so it is never removed.
inline const MPI_Request kCompletedRequest = reinterpret_cast<MPI_Request>(std::intptr_t{4096});
/// The operation behind kCompletedRequest: complete, successful, and of no communicator. The same for all
/// ranks.
Request& completed_request();

/// Writes a Result into the user's status; MPI_ERROR only where the standard lets it be written
/// (`with_error`).
void write_status(MPI_Status* status, const Result& result, bool with_error);
/// The packed size that a status carries (MPI_Get_count), and whether the operation was cancelled.
Count bytes_of(const MPI_Status& status);
void set_bytes(MPI_Status& status, Count bytes);
bool is_cancelled(const MPI_Status& status);
void set_cancelled(MPI_Status& status, bool cancelled);

}  // namespace clump::core
