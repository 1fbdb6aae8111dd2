// The label that a message of the program carries in front of its data under mpiexec --check. It says what
// the data are and which call sends them. So the receiving rank can compare what is sent with what it
// receives, and can name both calls, wherever the ranks are; and the origin of a message that no rank has
// received is known.
//
// A message and its label are in one piece of memory of Clump's, at both ends. Channels and matchers see a
// message like any other. Under --check all messages of point-to-point calls have a label; those of
// collective operations and of partitioned communication have none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "core/rank.h"
#include "datatype/content.h"
#include "datatype/fingerprint.h"

namespace clump::p2p {

/// A label, sent as its bytes; trivial.
struct Label {
  datatype::Content content;
  Count count = 0;
  std::uint64_t address = 0;       ///< of the call, as in CodePlace
  std::array<char, 24> call{};     ///< "MPI_Send"; this and what follows ends with 0, and may be cut
  std::array<char, 56> type{};     ///< the type of the elements, in words
  std::array<char, 256> object{};  ///< the file of the call; empty: unknown, or the path is too long

  Label() = default;
  Label(const core::World& world, const core::Site& site, const datatype::Layout& data);
  /// The sending call: "MPI_Send at solver.c:12".
  std::string origin(const core::World& world) const;
  /// The call and its data: "MPI_Send(4 x MPI_INT to rank 1, tag 7) at solver.c:12"; `whom`: " to rank 1, tag
  /// 7".
  std::string words(const core::World& world, const std::string& whom) const;

 private:
  std::string place(const core::World& world) const;
};

/// Whether the types of a message with this content match the first ones of `buffer`, which is long enough
/// for it (MPI-5.0 section 3.3.1).
bool may_go_into(const datatype::Content& sent, const datatype::Layout& buffer);
/// The current call: "MPI_Wait at solver.c:12".
std::string call_now(const core::World& world);
inline constexpr const char* kSameTypes =
    "the basic types have to be the same, in the same order (MPI_BYTE is one of them); a receive may have "
    "room for "
    "more";

/// A label with room for data behind it.
class Package {
 public:
  explicit Package(Count data_bytes);

  Label& label() { return *reinterpret_cast<Label*>(memory_.get()); }
  const Label& label() const { return *reinterpret_cast<const Label*>(memory_.get()); }
  std::byte* data() { return memory_.get() + sizeof(Label); }
  const std::byte* data() const { return memory_.get() + sizeof(Label); }
  /// Label and data together, as they are sent and received.
  datatype::Layout whole() const {
    return {memory_.get(), static_cast<Count>(sizeof(Label)) + bytes_, datatype::predefined(MPI_BYTE)};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;  // not touched before it is used: the buffer of a receive may be
                                             // large
  Count bytes_;
};

/// Data of the program that go into a message or come out of one.
struct Portion {
  datatype::Layout data;
  datatype::Ref type;  ///< keeps a derived type alive
  explicit Portion(const datatype::Layout& layout)
      : data(layout), type(layout.type->is_predefined() ? datatype::Ref() : datatype::Ref(layout.type)) {}
};

/// A message that a rank sends, with its label. The data are copied here at once, so that look() can tell
/// whether they have changed.
class Sent {
 public:
  Sent(const core::World& world, const core::Site& site, const datatype::Layout& data);

  /// Notes the call that starts a persistent send, which is not the call that made it.
  void started(const core::Site& site) { site_ = site; }
  datatype::Layout whole() const { return package_.whole(); }
  /// Called before they are sent: fails if another operation writes them (core/buffers_in_use.h).
  base::Status may_send(const core::Rank& rank, int to) const;
  /// Called when the calling thread's current call gives the data back to the user: MPI_ERR_BUFFER if they
  /// have changed.
  base::Status look(const core::World& world) const;

 private:
  Portion portion_;
  core::Site site_;
  Package package_;
};

/// MPI_ERR_BUFFER if the send buffer and the receive buffer of one call have bytes in common (MPI-5.0 section
/// 3.10).
base::Status keep_apart(const core::World& world, const datatype::Layout& out, const datatype::Layout& in);

/// A message that a rank receives, with its label.
class Received {
 public:
  /// Whether the program's call blocks. If it does not, the program must not write into the buffer before the
  /// receive is complete.
  enum class Until : std::uint8_t { kReturn, kCompletion };
  Received(const core::Site& site, const datatype::Layout& data, Until until);
  ~Received() { unclaim(); }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  /// Claims the buffer for this receive until open(): as core::claim_buffer(), and MPI_ERR_TYPE if the layout
  /// itself has a byte twice (MPI-5.0 section 5.1.11). `from`: MPI_PROC_NULL does not send, so the buffer is
  /// not claimed.
  base::Status claim(core::Rank& rank, int from);

  datatype::Layout whole() const { return package_.whole(); }
  /// Called when the operation that has received whole() is complete with `result`: copies the data into the
  /// user's buffer, and makes `result` the one that the user gets. MPI_ERR_TYPE if sender and receiver do not
  /// mean the same types, MPI_ERR_BUFFER if the buffer has changed meanwhile.
  void open(const core::Comm& comm, core::Result& result);

 private:
  void unclaim();
  base::Status compare(const core::Comm& comm, const core::Result& result) const;
  base::Status look(const core::World& world, const core::Result& result) const;
  std::string words(const core::Comm& comm, const core::Result& result) const;

  Portion portion_;
  core::Site site_;
  core::Rank* claimed_by_ = nullptr;
  core::BufferInUse use_;
  std::optional<datatype::Snapshot> before_;  // of the buffer
  Package package_;
};

}  // namespace clump::p2p
