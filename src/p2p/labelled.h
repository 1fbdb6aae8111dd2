// Operations of the program whose messages have labels (label.h): the operations behind its requests under
// mpiexec --check. The call that completes them asks for their results (core::Request::ask).
#pragma once

#include <optional>

#include "p2p/buffered.h"
#include "p2p/label.h"
#include "p2p/p2p.h"
#include "p2p/persistent.h"
#include "p2p/send_receive.h"

namespace clump::p2p {

/// The arguments of a send, and the channel it takes.
struct SendCall {
  Mode mode = Mode::kStandard;
  bool is_buffered = false;
};

/// A send, persistent or not. The request lives until it is completed, whatever happens to the message.
class LabelledSend final : public SendOperation {
 public:
  enum class Life : std::uint8_t { kOnce, kPersistent };
  LabelledSend(const Address& to, const datatype::Layout& data, SendCall how, Life life);
  /// Starts a send that is not persistent. Once.
  base::Status begin_now();
  base::Status start() override;
  void ask(bool keep) override;
  Sending sending() const override;

 private:
  const Address to_;
  const datatype::Layout data_;
  const SendCall how_;
  const core::Site made_;
  std::optional<Sent> sent_;  // until it was looked at
};

/// A receive, persistent or not.
class LabelledReceive final : public ReceiveOperation {
 public:
  /// For a message that is already known; Matcher::receive_taken() begins it.
  explicit LabelledReceive(const datatype::Layout& data);
  /// Starts receiving from `from`. Once; a persistent receive begins by start().
  base::Status begin(const Address& from);
  /// Claims the buffer, as Received::claim(), before receiving a message that is already known.
  base::Status claim(core::Rank& rank) { return received_->claim(rank, MPI_ANY_SOURCE); }
  void keep(const Address& from);
  base::Status start() override;
  void ask(bool keep) override;
  /// The receive in words while it waits: "MPI_Irecv(1 x MPI_INT from rank 0, tag 7, MPI_COMM_WORLD) at
  /// solver.c:12".
  std::string words(const std::string& name_of_comm) const;

 private:
  void end_abandoned() override;
  void prepare();

  std::optional<Address> from_;  // of a persistent receive
  const datatype::Layout data_;
  const core::Site made_;
  std::optional<Received> received_;  // until it was opened
};

/// The operation of MPI_Isendrecv and MPI_Isendrecv_replace.
class LabelledSendReceive final : public SendReceive {
 public:
  /// `is_replaced`: the data to send may be overwritten by those received.
  base::Status begin(const Address& to, const datatype::Layout& out, const Address& from,
                     const datatype::Layout& in, bool is_replaced);
  void ask(bool keep) override;

 private:
  void end_abandoned() override;
  bool is_replaced_ = false;
  std::optional<Sent> sent_;
  std::optional<Received> received_;
};

}  // namespace clump::p2p
