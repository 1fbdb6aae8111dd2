// What a message of the program's carries under mpiexec --check, in front of its data: what they are, and
// which call sends them. So the receiving rank can compare what is sent with what it receives, and name both
// calls, wherever the ranks are; and of a message that nobody has received it is known where it comes from.
//
// A message and its label are one in a piece of memory of ours, at both ends. For whoever moves and matches
// it, it is a message like others. Under --check all messages of point-to-point calls have one, those of
// collective operations and of partitioned communication have none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/rank.h"
#include "datatype/content.h"

namespace clump::p2p {

/// Is sent as it is; trivial.
struct Label {
  datatype::Content content;
  Count count = 0;
  std::uint64_t address = 0;       ///< of the call: see CodePlace
  std::array<char, 24> call{};     ///< "MPI_Send"; this and what follows ends with 0, and may be cut
  std::array<char, 56> type{};     ///< of the elements, in words
  std::array<char, 256> object{};  ///< of the call; empty: nobody knows, or the path is longer

  Label() = default;
  Label(const core::World& world, const core::Site& site, const datatype::Layout& data);
  /// "MPI_Send at solver.c:12"
  std::string origin(const core::World& world) const;
  /// "MPI_Send(4 x MPI_INT to rank 1, tag 7) at solver.c:12"; `whom`: " to rank 1, tag 7".
  std::string words(const core::World& world, const std::string& whom) const;

 private:
  std::string place(const core::World& world) const;
};

/// Whether a message of this content may be received into `buffer`, for which it is not too long (MPI-5.0
/// section 3.3.1): its types are the first ones of the buffer's.
bool may_go_into(const datatype::Content& sent, const datatype::Layout& buffer);
/// "MPI_Wait at solver.c:12", the current call.
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
  /// Both, as they are sent and received.
  datatype::Layout whole() const {
    return {memory_.get(), static_cast<Count>(sizeof(Label)) + bytes_, datatype::predefined(MPI_BYTE)};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;  // not touched before it is used: a receive may have much room
  Count bytes_;
};

/// Data of the program's that go into a message, or have come out of one.
struct Portion {
  datatype::Layout data;
  datatype::Ref type;  ///< keeps a derived one alive
  explicit Portion(const datatype::Layout& layout)
      : data(layout), type(layout.type->is_predefined() ? datatype::Ref() : datatype::Ref(layout.type)) {}
};

/// What a rank sends, with its label. The data are copied here at once, so it is known later whether they
/// have changed.
class Sent {
 public:
  Sent(const core::World& world, const core::Site& site, const datatype::Layout& data);

  /// A persistent one is started by another call than made it.
  void started(const core::Site& site) { site_ = site; }
  datatype::Layout whole() const { return package_.whole(); }
  /// The data are the user's again by the calling thread's current call: MPI_ERR_BUFFER if they have changed.
  base::Status look(const core::World& world) const;

 private:
  Portion portion_;
  core::Site site_;
  Package package_;
};

/// MPI_ERR_BUFFER if what one call sends and what it receives have bytes in common (MPI-5.0 section 3.10).
base::Status keep_apart(const core::World& world, const datatype::Layout& out, const datatype::Layout& in);

/// What a rank receives, with its label.
class Received {
 public:
  /// The call of the program blocks, or not: then the buffer must not be written before it is complete.
  enum class Until : std::uint8_t { kReturn, kCompletion };
  Received(const core::Site& site, const datatype::Layout& data, Until until);
  ~Received() { unclaim(); }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  /// From here on until it was opened, the buffer is this receive's: MPI_ERR_BUFFER if another one has bytes
  /// of it, MPI_ERR_TYPE if the layout itself has a byte twice (MPI-5.0 sections 3.7.2 and 5.1.11). `from`:
  /// nobody sends, so it is not written.
  base::Status claim(core::Rank& rank, int from);

  datatype::Layout whole() const { return package_.whole(); }
  /// The operation that has received whole() is complete, with `result`: gives the user the data, and makes
  /// the result what he is told of it. MPI_ERR_TYPE if sender and receiver do not mean the same types,
  /// MPI_ERR_BUFFER if the buffer has changed meanwhile.
  void open(const core::Comm& comm, core::Result& result);

 private:
  void unclaim();
  base::Status compare(const core::Comm& comm, const core::Result& result) const;
  base::Status look(const core::World& world) const;
  std::string words(const core::Comm& comm, const core::Result& result) const;

  Portion portion_;
  core::Site site_;
  core::Rank* claimed_by_ = nullptr;
  core::BufferInUse use_;
  Until until_;
  std::uint64_t fingerprint_ = 0;
  Package package_;
};

}  // namespace clump::p2p
