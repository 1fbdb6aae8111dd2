// Operations on the memory of a rank that the origin cannot reach: a message asks the target's process, whose
// threads do the work, whatever the target's program does. On another host that is the network thread, or any
// thread that waits.
//
//   origin                                    target's process
//     --- Header, type, data if short ------>  a receive that is always posted; its completion serves
//     --- type, data (if longer) ----------->
//     <-- reply: data, or an error class ----  when the operation is done
//
// Headers of one origin are served in their order, so accumulates are, too: an origin that has sent one with
// separate data waits for its reply before it sends the next accumulate to the same rank.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "core/comm.h"
#include "core/request.h"
#include "datatype/datatype.h"
#include "fiber/completion.h"
#include "p2p/p2p.h"
#include "rma/window.h"

namespace clump::rma {

/// The tags of a window's messages, in the collective context of its communicator. Collectives have smaller
/// ones.
enum class Tag : int {
  kPosted = 0x40000000,  ///< target to origin: MPI_Win_post
  kCompleted,            ///< origin to target: MPI_Win_complete
  kGranted,              ///< the rank that releases a lock to its next holder
  kHeader,
  // To these a number of the operation is added.
  kReply = 0x41000000,
  kType = 0x42000000,
  kData = 0x43000000,
};
inline constexpr int kNumbers = 0x00ffffff;

p2p::Address address(core::Comm& comm, int peer, Tag tag, int number = 0);
/// The layout of an empty message.
inline datatype::Layout no_data() { return {nullptr, 0, datatype::predefined(MPI_BYTE)}; }
/// Sends an empty message and does not wait.
void send_note(core::Comm& comm, int peer, Tag tag);

/// What an origin asks for.
struct Header {
  enum class Kind : std::uint8_t { kPut, kGet, kCombine, kCompareAndSwap, kLock, kTryLock, kUnlock, kStop };
  Kind kind = Kind::kPut;
  LockType lock = LockType::kShared;
  bool wants_result = false;
  bool has_data = false;  ///< behind the header; false: there is none, or it comes as a message
  bool has_type = false;  ///< the same
  std::array<std::uint8_t, 3> unused{};  ///< in place of padding, which would be sent as it lies in memory
  std::int32_t number = 0;
  std::int32_t op = 0;
  Count offset = 0;  ///< in the target's part of the window; of a dynamic one: the address
  Count count = 0;
  std::intptr_t type = 0;     ///< a predefined one; 0: described by `type_bytes`
  std::intptr_t element = 0;  ///< of accumulates
  Count type_bytes = 0, data_bytes = 0;
};
static_assert(sizeof(Header) == 64 && std::has_unique_object_representations_v<Header>);

/// A header, and the type and the data if they are short.
struct Frame {
  Header header;
  std::array<std::byte, 448> rest;
};

/// What is wrong with a header that came in a frame of so many bytes; null: nothing that it tells by itself.
const char* wrong_with(const Header& header, Count bytes);

class Service;

class Messages {
 public:
  /// `serves`: some rank needs messages to reach the owner's memory.
  Messages(Window& window, bool serves);
  ~Messages();

  // The origin's side. Each is under way when the call returns, with `request` for the program or not. Waits
  // for replies where very many are under way already.
  base::Status put(const datatype::Layout& from, const Place& to, Count offset, MPI_Request* request);
  base::Status get(const datatype::Layout& to, const Place& from, Count offset, MPI_Request* request);
  base::Status combine(const Combination& what, const datatype::Datatype& element, const Place& with,
                       Count offset, MPI_Request* request);
  base::Status compare_and_swap(const void* both, void* result, const Place& with, Count offset);
  /// The grant is a message of its own.
  void lock(LockType type, int rank);
  /// Takes the lock if it is free; false: it is not. Waits for the answer, and for all that was asked of the
  /// rank before.
  bool try_lock(LockType type, int rank);
  base::Status unlock(LockType type, int rank);

  /// Waits until everything that was asked of a rank is done; negative: of any rank. The first error.
  base::Status flush(int rank);

  /// Ends the service. After all ranks have flushed.
  void stop();

 private:
  class Reply;
  struct Flush;

  struct Asked;
  base::Status ask(int rank, Header header, Asked asked, MPI_Request* request);
  void replied(int rank, bool separate, int error);
  base::Status why_failed(int rank, int error) const;
  struct Awaited {
    int rank = -1;          ///< negative: all
    bool separate = false;  ///< accumulates with separate data only
    int most = 0;           ///< so many of all may stay without a reply
  };
  void wait_for(const Awaited& what);
  bool is_open(const Awaited& what) const;
  /// Operations of one window that are under way: each takes some hundred bytes of the origin.
  static constexpr int kMostOpen = 4096;

  Window& window_;
  std::unique_ptr<Service> service_;
  std::atomic<std::uint32_t> numbers_{0};

  base::ShortMutex mutex_;         // guards what follows
  std::vector<int> open_;          // by rank: operations without a reply
  std::atomic<int> all_open_ = 0;  // read without the lock, too, by threads that ask
  std::vector<int> separate_;      // by rank: accumulates among them whose data is a message of its own
  std::vector<int> errors_;        // by rank: the class of the first error since the last flush
  Flush* waiting_ = nullptr;
};

}  // namespace clump::rma
