// The check of ranks under --check before a collective operation of the program's: they exchange their calls,
// and find out whether these are one operation.
//
// Each rank sends each other one a signature (check/call_signature.h), and compares those that it gets with
// its own. Then all agree on whether a rank has found a difference, and only if so, they exchange their calls
// in words. So all ranks come to the same end: they do the operation, or all of them fail with the same
// message, which names two of them, and none waits for something that never comes.
//
// These are messages with tags of their own, in the order in which the program calls collectives of the
// communicator. So it makes no difference what operations the ranks have called, whether these block, or
// where the ranks are. A call that blocks waits here for all ranks of the communicator to make it, which any
// program has to expect of any collective operation (MPI-5.0 section 6.14). For one that does not block, the
// check is the beginning of the operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coll/check/call_signature.h"
#include "coll/schedule/schedule.h"
#include "core/comm.h"

namespace clump::coll {

class Check final {
 public:
  struct Call {
    const char* name = "";          ///< of the function; lives as long as the process
    const void* address = nullptr;  ///< where it returns to
    int root = CallSignature::kNoRoot;
    const core::Op* op = nullptr;
    bool is_in_place = false;
    bool all_in_place = false;    ///< all ranks have to work in place if one does
    bool combines = false;        ///< as on a signature
    std::uint64_t counts = 0;     ///< as on a signature
    std::uint64_t arguments = 0;  ///< as on a signature
    std::string words;            ///< these, as a message tells them
    /// The data to a rank of the peers, and from it; null: nothing. Are not kept.
    std::function<Layout(int peer)> gives, takes;
    /// The same where only some are neighbours, and these perhaps several times.
    struct Link {
      int peer;
      Layout data;
    };
    std::vector<Link> to, from;
    bool are_edges = false;  ///< the operation makes these links, and no data go there yet
    /// Where the data lie that the rank gives, and where those go that it takes, if the program asks for it.
    std::vector<Layout> sends, receives;
    bool scatters = false;  ///< `sends` are blocks for different ranks, each of which is sent once
    /// Arguments that the operation reads until it is complete (MPI-5.0 section 6.12).
    struct Array {
      const char* name;
      const void* data;
      std::size_t elements, bytes_each;
    };
    std::vector<Array> arrays;
  };

  /// All ranks make theirs in the same order.
  Check(core::Comm& comm, const Call& call);

  /// Waits for the other ranks.
  base::Status run();
  // As those of Schedule; it can be started again when it is over.
  void start(Schedule::Listener& listener);
  bool advance();
  base::Status status() const { return status_; }
  /// Whether there are buffers or arrays that must not be written before the operation is over.
  bool has_buffers() const { return !sends_.empty() || !receives_.empty() || !arrays_.empty(); }
  /// Where the operation gets to put what it receives for `buffer`, an argument of the call: so it is seen
  /// whether the program writes there before it is over.
  void* stand_in(void* buffer) const;
  /// The operation is over: gives the program what was received. MPI_ERR_BUFFER if a buffer has changed since
  /// start(), MPI_ERR_ARG if an array has.
  base::Status give_back();

 private:
  /// The finding of a rank, in words for others: is sent as it is.
  struct Finding {
    int peer = -1;  ///< none: there was no difference
    Difference difference = Difference::kNone;
    std::array<char, 480> words{};  ///< the rank's own call
  };
  /// Data, as they are described.
  struct Portion {
    Count count = 0;
    datatype::Ref type;
    int more = 0;  ///< blocks that go the same way
    static Portion of(const Layout& layout);
    std::string words() const;
  };
  struct Buffer {
    Layout data;
    Portion portion;  // keeps the type
    std::uint64_t fingerprint = 0;
  };
  struct Array {
    Call::Array array;
    std::vector<std::byte> contents;
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  enum class Stage : std::uint8_t { kSignatures, kAgreement, kFindings };

  void write_signatures(const Call& call);
  static void link(const std::vector<Call::Link>& links, std::vector<CallSignature>& signatures,
                   datatype::Content CallSignature::*way, std::vector<Portion>& portions);
  void name_operation(CallSignature& signature, const core::Op& op);
  void keep_buffers(const Call& call);
  Layout stand_in(const Layout& data) const;
  base::Status changed(const char* what, const Buffer& buffer, const char* advice) const;
  base::Status look_at_arrays() const;
  base::Status look_at_sends() const;
  base::Status look_at_receives() const;
  std::string when(const char* verb) const;
  void prepare();
  bool go_on();
  void compare();
  void conclude();
  std::string own_words(int peer) const;
  std::string message(int rank, const Finding& finding) const;

  core::Comm& comm_;
  const char* const name_;
  const void* const address_;
  const bool is_in_place_;
  const int tags_;
  const bool are_edges_;
  const std::string arguments_;
  std::string place_of_operation_;      // of the program's
  std::vector<Portion> gives_, takes_;  // by peer; empty: no data
  std::vector<Buffer> sends_, receives_;
  std::vector<Array> arrays_;
  std::unique_ptr<std::byte, Free> room_;  // for what is received
  std::intptr_t shift_ = 0;                // from the user's memory to it
  bool was_given_ = true;
  core::Site started_;
  std::vector<CallSignature> mine_, theirs_;  // by peer
  Finding finding_;
  std::vector<Finding> findings_;  // by peer
  int differs_ = 0, any_differs_ = 0;

  Stage stage_ = Stage::kSignatures;
  std::optional<Schedule> schedule_;
  Schedule::Listener* listener_ = nullptr;
  base::Status status_;
};

}  // namespace clump::coll
