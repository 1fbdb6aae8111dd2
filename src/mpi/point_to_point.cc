// Point-to-point communication (MPI-5.0 chapter 3): sends, receives and their persistent forms. Arguments
// were checked at the entry.
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/layout.h"
#include "p2p/buffered.h"
#include "p2p/p2p.h"
#include "p2p/persistent.h"
#include "p2p/send_receive.h"

// What is called most often becomes part of its entry points where the library is optimised as a whole; GCC
// warns that it cannot see from here how.
#pragma GCC diagnostic ignored "-Wattributes"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;
using p2p::Address;
using p2p::Mode;

/// An operation that outlives the call: it keeps what it uses.
template <typename Operation>
Operation& make(Rank& self, const Address& address, const Layout& buffer, MPI_Request* request) {
  auto* const operation = new Operation;  // make_unique would fill it with zeros first
  operation->uses(address.comm, *buffer.type);
  *request = self.add(std::unique_ptr<core::Request>(operation));
  return *operation;
}

[[gnu::noinline]] void begin_first_receive(Rank& self, Address from, Layout buffer, MPI_Request* request) {
  auto& operation = make<p2p::ReceiveOperation>(self, from, buffer, request);
  self.make_reusable(operation);
  operation.begin(from, buffer);
}

/// Receives are used again.
[[gnu::always_inline]] inline void begin_receive(Rank& self, const Address& from, const Layout& buffer,
                                                 MPI_Request* request) {
  core::Request* const spare = self.reuse();
  if (spare == nullptr) [[unlikely]]
    return begin_first_receive(self, from.apart(), {buffer.base, buffer.count, buffer.type}, request);
  spare->uses(from.comm, *buffer.type);
  *request = spare->handle;
  static_cast<p2p::ReceiveOperation&>(*spare).begin(from, buffer);
}

[[gnu::noinline]] void begin_untaken_send(Rank& self, Address to, const Layout& buffer, MPI_Request* request,
                                          Mode mode) {
  make<p2p::SendOperation>(self, to, buffer, request).begin_untaken(to, buffer, mode);
}

/// A send that is over when the call returns has nothing to remember.
[[gnu::always_inline]] inline Status begin_send(Rank& self, const Address& address, const Layout& buffer,
                                                MPI_Request* request, Mode mode) {
  if (mode != Mode::kSynchronous && p2p::try_send(address, buffer)) {
    *request = core::kCompletedRequest;
    return {};
  }
  begin_untaken_send(self, address.apart(), buffer, request, mode);
  return {};
}

/// The bytes of `buffer`, in `memory`.
Layout packed(const Layout& buffer, std::vector<std::byte>& memory) {
  memory.resize(static_cast<std::size_t>(buffer.bytes()));
  datatype::pack(memory, buffer, 0);
  return {memory.data(), static_cast<Count>(memory.size()), datatype::predefined(MPI_BYTE)};
}

p2p::SendReceive& make_send_receive(Rank& self, Comm& comm, MPI_Request* request) {
  auto owned = std::make_unique<p2p::SendReceive>();
  p2p::SendReceive& operation = *owned;
  operation.comm = base::Ref<Comm>(&comm);
  *request = self.add(std::move(owned));
  return operation;
}

}  // namespace

[[gnu::always_inline]] Status send(Rank&, const void* buf, Count count, const Datatype& datatype, int dest,
                                   int tag, Comm& comm) {
  return p2p::send({comm, dest, tag}, layout(buf, count, datatype));
}

Status ssend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::send({comm, dest, tag}, layout(buf, count, datatype), Mode::kSynchronous);
}

Status rsend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::send({comm, dest, tag}, layout(buf, count, datatype), Mode::kReady);
}

Status bsend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::buffered_send({comm, dest, tag}, layout(buf, count, datatype));
}

[[gnu::always_inline]] Status recv(Rank&, void* buf, Count count, const Datatype& datatype, int source,
                                   int tag, Comm& comm, MPI_Status* status) {
  core::Operation operation;
  const Status outcome = p2p::receive({comm, source, tag}, layout(buf, count, datatype), operation);
  core::write_status(status, operation.result, false);
  return outcome;
}

[[gnu::always_inline]] Status isend(Rank& self, const void* buf, Count count, const Datatype& datatype,
                                    int dest, int tag, Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, Mode::kStandard);
}

Status issend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
              Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, Mode::kSynchronous);
}

Status irsend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
              Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, Mode::kReady);
}

Status ibsend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
              MPI_Request* request) {
  CLUMP_TRY(p2p::buffered_send({comm, dest, tag}, layout(buf, count, datatype)));
  *request = core::kCompletedRequest;
  return {};
}

[[gnu::always_inline]] Status irecv(Rank& self, void* buf, Count count, const Datatype& datatype, int source,
                                    int tag, Comm& comm, MPI_Request* request) {
  begin_receive(self, {comm, source, tag}, layout(buf, count, datatype), request);
  return {};
}

Status sendrecv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, Count recvcount, const Datatype& recvtype, int source, int recvtag, Comm& comm,
                MPI_Status* status) {
  core::Result result;
  const Status outcome =
      p2p::send_receive({comm, dest, sendtag}, layout(sendbuf, sendcount, sendtype), {comm, source, recvtag},
                        layout(recvbuf, recvcount, recvtype), &result);
  core::write_status(status, result, false);
  return outcome;
}

Status sendrecv_replace(Rank&, void* buf, Count count, const Datatype& datatype, int dest, int sendtag,
                        int source, int recvtag, Comm& comm, MPI_Status* status) {
  const Layout buffer = layout(buf, count, datatype);
  std::vector<std::byte> copy;
  const Layout out = packed(buffer, copy);
  core::Result result;
  const Status outcome =
      p2p::send_receive({comm, dest, sendtag}, out, {comm, source, recvtag}, buffer, &result);
  core::write_status(status, result, false);
  return outcome;
}

Status isendrecv(Rank& self, const void* sendbuf, Count sendcount, const Datatype& sendtype, int dest,
                 int sendtag, void* recvbuf, Count recvcount, const Datatype& recvtype, int source,
                 int recvtag, Comm& comm, MPI_Request* request) {
  make_send_receive(self, comm, request)
      .begin({comm, dest, sendtag}, layout(sendbuf, sendcount, sendtype), {comm, source, recvtag},
             layout(recvbuf, recvcount, recvtype));
  return {};
}

Status isendrecv_replace(Rank& self, void* buf, Count count, const Datatype& datatype, int dest, int sendtag,
                         int source, int recvtag, Comm& comm, MPI_Request* request) {
  const Layout buffer = layout(buf, count, datatype);
  std::vector<std::byte> copy;
  const Layout out = packed(buffer, copy);
  p2p::SendReceive& operation = make_send_receive(self, comm, request);
  operation.copy = std::move(copy);
  operation.begin({comm, dest, sendtag}, out, {comm, source, recvtag}, buffer);
  return {};
}

Status send_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                 Comm& comm, MPI_Request* request) {
  const Layout buffer = layout(buf, count, datatype);
  *request =
      self.add(std::make_unique<p2p::PersistentSend>(Address{comm, dest, tag}, buffer, Mode::kStandard));
  return {};
}

Status ssend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  const Layout buffer = layout(buf, count, datatype);
  *request =
      self.add(std::make_unique<p2p::PersistentSend>(Address{comm, dest, tag}, buffer, Mode::kSynchronous));
  return {};
}

Status rsend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  const Layout buffer = layout(buf, count, datatype);
  *request = self.add(std::make_unique<p2p::PersistentSend>(Address{comm, dest, tag}, buffer, Mode::kReady));
  return {};
}

Status bsend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  *request = self.add(
      std::make_unique<p2p::PersistentBufferedSend>(Address{comm, dest, tag}, layout(buf, count, datatype)));
  return {};
}

Status recv_init(Rank& self, void* buf, Count count, const Datatype& datatype, int source, int tag,
                 Comm& comm, MPI_Request* request) {
  *request = self.add(
      std::make_unique<p2p::PersistentReceive>(Address{comm, source, tag}, layout(buf, count, datatype)));
  return {};
}

}  // namespace clump::mpi
