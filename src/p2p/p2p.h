// Point-to-point messages (MPI-5.0 chapter 3), as the layers above use them: MPI bodies and collectives.
#pragma once

#include "core/comm.h"
#include "core/request.h"
#include "datatype/datatype.h"
#include "net/channel.h"

namespace clump::p2p {

enum class Mode : std::uint8_t { kStandard, kSynchronous, kReady };

/// Whom a message goes to or comes from. `peer` is a rank of comm.peers(), MPI_PROC_NULL or (receives) MPI_ANY_SOURCE.
struct Address {
  core::Comm& comm;
  int peer;
  int tag;
  bool collective = false;  ///< in the communicator's collective context
};

class Operation;

/// A send in progress, wherever its owner keeps it (on the stack for a blocking call). Arguments were checked by the caller.
class SendOperation final : public net::Outgoing, public core::Request {
 public:
  /// Never blocks; the buffer is in use until `completion` is done.
  void begin(const Address& to, const datatype::Layout& from, Mode mode = Mode::kStandard);
  void released() override;
  base::Status cancel() override;
  void detach() override;

 private:
  bool detached_ = false;
};

/// A receive in progress. result (source, tag, bytes, error) is valid when `completion` is done; a message longer than the
/// buffer leaves MPI_ERR_TRUNCATE there.
class ReceiveOperation final : public core::Request {
 public:
  void begin(const Address& from, const datatype::Layout& to);
  base::Status cancel() override;
  void detach() override;
};

/// Blocking forms. The Status is the operation's error.
base::Status send(const Address& to, const datatype::Layout& from, Mode mode = Mode::kStandard);
base::Status receive(const Address& from, const datatype::Layout& to, core::Result* result = nullptr);
base::Status send_receive(const Address& to, const datatype::Layout& out, const Address& from, const datatype::Layout& in,
                          core::Result* result = nullptr);

}  // namespace clump::p2p
