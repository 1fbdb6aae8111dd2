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

/// What a completed operation tells; goes into the user's MPI_Status.
struct Result {
  int source = MPI_ANY_SOURCE;  ///< an "empty" status (MPI-5.0 section 3.7.3) is what stands here
  int tag = MPI_ANY_TAG;
  int error = MPI_SUCCESS;
  bool cancelled = false;
  Count bytes = 0;  ///< received, packed size
};

/// Something that is under way, as who carries it out knows it: he writes `result`, then calls complete().
/// Most are Requests; those that a call waits for itself, on its stack, can do with this.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// `result` is written: wakes who waits. The last touch; any thread.
  [[gnu::always_inline]] void complete() {
    if (completion.signal()) [[unlikely]]
      end_abandoned_request();
  }

  /// The same by who has `completion` in his cache, most likely.
  [[gnu::always_inline]] void complete_near() {
    if (completion.signal_near()) [[unlikely]]
      end_abandoned_request();
  }

  fiber::Completion completion;
  Result result;

 private:
  [[gnu::cold]] void end_abandoned_request();
};

/// Base of every operation that a user can hold a request of. The user's handle owns it until it is completed
/// (or, for a persistent one, freed).
class Request : public Operation {
 public:
  enum class State : std::uint8_t { kInactive, kActive };
  /// Some calls are for one kind of requests only.
  enum class Kind : std::uint8_t {
    kOrdinary,
    kPartitionedReceive,
    kGeneralized,      ///< from here on they are asked
    kPartitionedSend,  ///< mpiexec --check looks at its partitions,
    kChecked,          ///< and at all that this one has done
  };

  Request() = default;
  explicit Request(Kind kind) : kind(kind) {}
  virtual ~Request() = default;

  // Requests come and go quickly: each thread keeps the memory of some for the next ones. Any thread may
  // delete them.
  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size) noexcept;
  static void* operator new(std::size_t, void* place) noexcept { return place; }

  /// It outlives the call that makes it, and keeps what it needs until then. Once.
  void uses(Comm& its_comm, const datatype::Datatype& its_type) {
    comm.fill(&its_comm);
    if (!its_type.is_predefined()) type.fill(&its_type);
  }

  /// MPI_Start; only for persistent requests, and only when inactive.
  virtual base::Status start();
  /// MPI_Cancel: may leave the operation as it is. Only for active operations.
  virtual base::Status cancel();

  /// Of some kinds, the result is complete only when they were asked. By the call that tells it to the user;
  /// `keep`: it is not the last such call.
  bool is_to_be_asked() const { return kind >= Kind::kGeneralized; }
  virtual void ask(bool /*keep*/) {}

  /// Whom it waits for, as a rank of the job; negative: nobody, several, or nobody knows.
  virtual int awaited() const { return MPI_UNDEFINED; }
  /// What a start of a persistent operation sends, in one message, to which rank of the job.
  struct Sending {
    int peer = MPI_PROC_NULL;  ///< nothing is sent
    int tag = 0;
    Count bytes = 0;
  };
  virtual Sending sending() const { return {}; }

  enum class WaitsFor : std::uint8_t { kThis, kAny };
  /// Before its owner waits for it, or for any of several, and may sleep: does what nobody else might do
  /// soon. Never blocks.
  virtual void before_wait(WaitsFor /*what*/) {}
  /// Adds what it waits for, while it is not complete.
  virtual void tell(std::vector<Awaited>& all) const { all.emplace_back(); }
  /// Waits until it is complete.
  void wait() {
    if (completion.done()) return;
    before_wait(WaitsFor::kThis);
    being_awaited = this;
    completion.wait();
    being_awaited = nullptr;
  }
  /// What the calling thread of control waits for, if it is a request by itself.
  static inline constinit thread_local const Request* being_awaited = nullptr;

  /// Lets an operation go on without its owner (MPI_Request_free): it owns itself until it is complete. Those
  /// on a stack have no unique_ptr to give, so they cannot be detached.
  static void detach(std::unique_ptr<Request> request);
  /// Whether the user may call MPI_Request_free while it is active.
  virtual base::Status may_detach() const { return {}; }

  MPI_Request handle = MPI_REQUEST_NULL;
  base::Ref<Comm> comm;  ///< whose error handler is called; may be null
  datatype::Ref type;    ///< keeps a derived datatype alive while the operation uses it
  State state = State::kActive;
  bool persistent = false;
  bool reusable = false;        ///< see Rank::make_reusable()
  bool was_started = false;     ///< of a persistent one: ever (mpiexec --check)
  bool was_waited_for = false;  ///< and before that
  Kind kind = Kind::kOrdinary;

 protected:
  /// It is complete, and its completion was abandoned: nobody waits for it. The last touch. As it stands here
  /// it ends an operation that was detached.
  [[gnu::cold]] virtual void end_abandoned();

 private:
  friend class Operation;
  friend class Rank;
  /// As it was made, but for its handle's number, and what every operation of its class writes into `result`;
  /// nothing is kept alive any more.
  void renew() {
    static_cast<void>(base::Ref<Comm>(std::move(comm)));
    if (type) [[unlikely]]
      type = {};
    completion.reset();
    result.error = MPI_SUCCESS;
    result.cancelled = false;
  }
  std::unique_ptr<Request> self_;      ///< set by detach()
  HandleTable<Request>::Place place_;  ///< of one that is used again and again
  Request* next_spare_ = nullptr;
};

/// What the user gets for an operation of which nothing is left to be told when its call returns, such as a
/// send whose buffer is free again. One handle stands for all of them, so it is never removed.
inline const MPI_Request kCompletedRequest = reinterpret_cast<MPI_Request>(std::intptr_t{4096});
/// The operation behind it: complete, successful, and of no communicator. The same for all ranks.
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
