// Persistent operations (MPI-5.0 section 3.9): the arguments are kept, and MPI_Start begins the operation.
#pragma once

#include "p2p/p2p.h"

namespace clump::p2p {

/// Makes a new request persistent: it is inactive, and keeps the arguments that it was made with.
void keep(core::Request& request, const Address& address, const datatype::Layout& layout);
core::Request::Sending sending(const Address& to, const datatype::Layout& from);
/// Makes an inactive request active. At its start.
void activate(core::Request& request);

class PersistentSend final : public SendOperation {
 public:
  PersistentSend(const Address& to, const datatype::Layout& from, Mode mode);
  base::Status start() override;
  Sending sending() const override { return p2p::sending(to_, from_); }

 private:
  const Address to_;
  const datatype::Layout from_;
  const Mode mode_;
};

/// The request of MPI_Bsend_init: complete as soon as the message is in the attached buffer.
class PersistentBufferedSend final : public core::Request {
 public:
  PersistentBufferedSend(const Address& to, const datatype::Layout& from);
  base::Status start() override;
  Sending sending() const override { return p2p::sending(to_, from_); }

 private:
  const Address to_;
  const datatype::Layout from_;
};

class PersistentReceive final : public ReceiveOperation {
 public:
  PersistentReceive(const Address& from, const datatype::Layout& to);
  base::Status start() override;

 private:
  const Address from_;
  const datatype::Layout to_;
};

}  // namespace clump::p2p
