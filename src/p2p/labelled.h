// Operations of the program's whose messages have labels (label.h): what stands behind its requests under
// mpiexec --check. They are asked for their results (core::Request::ask), by the call that completes them.
#pragma once

#include <optional>

#include "p2p/buffered.h"
#include "p2p/label.h"
#include "p2p/p2p.h"
#include "p2p/persistent.h"
#include "p2p/send_receive.h"

namespace clump::p2p {

/// A send and its way.
struct SendCall {
  Mode mode = Mode::kStandard;
  bool is_buffered = false;
};

/// A send, persistent or not; whatever becomes of the message, the request is there until it is completed.
class LabelledSend final : public SendOperation {
 public:
  enum class Life : std::uint8_t { kOnce, kPersistent };
  LabelledSend(const Address& to, const datatype::Layout& data, SendCall how, Life life);
  /// Starts one that is not persistent. Once.
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
  /// For a message that is known already; receive_taken() of the matcher begins it.
  explicit LabelledReceive(const datatype::Layout& data);
  /// Starts receiving from there. Once, or by start() whenever it is persistent.
  base::Status begin(const Address& from);
  /// Before it gets a message that is known already: as Received::claim().
  base::Status claim(core::Rank& rank) { return received_->claim(rank, MPI_ANY_SOURCE); }
  void keep(const Address& from);
  base::Status start() override;
  void ask(bool keep) override;
  /// "MPI_Irecv(1 x MPI_INT from rank 0, tag 7, MPI_COMM_WORLD) at solver.c:12", while it waits.
  std::string words(const std::string& name_of_comm) const;

 private:
  void end_abandoned() override;
  void prepare();

  std::optional<Address> from_;  // persistent
  const datatype::Layout data_;
  const core::Site made_;
  std::optional<Received> received_;  // until it was opened
};

/// MPI_Isendrecv and MPI_Isendrecv_replace
class LabelledSendReceive final : public SendReceive {
 public:
  /// `is_replaced`: what is sent need not stay.
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
