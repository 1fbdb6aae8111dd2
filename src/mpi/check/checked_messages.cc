// Point-to-point communication under --check: the bodies of point_to_point.cc and probe.cc once more, with
// messages that have labels (p2p/label.h). Arguments are those of the usual bodies.
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry.h"
#include "mpi/layout.h"
#include "mpi/matched.h"
#include "p2p/labelled.h"

namespace clump::mpi::checked {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;
using p2p::Address;
using p2p::Mode;
using Life = p2p::LabelledSend::Life;
using Until = p2p::Received::Until;

const core::Site& here() { return *core::Site::current; }

Status send_labelled(const Address& to, const Layout& data, Mode mode) {
  const p2p::Sent sent(to.comm.owner.world, here(), data);
  CLUMP_TRY(sent.may_send(to.comm.owner, to.peer));
  return p2p::send(to, sent.whole(), mode);
}

Status begin_send(Rank& self, const Address& to, const Layout& data, MPI_Request* request,
                  p2p::SendCall how) {
  auto operation = std::make_unique<p2p::LabelledSend>(to, data, how, Life::kOnce);
  CLUMP_TRY(operation->begin_now());
  *request = self.add(std::move(operation));
  return {};
}

Status keep_send(Rank& self, const Address& to, const Layout& data, MPI_Request* request, p2p::SendCall how) {
  *request = self.add(std::make_unique<p2p::LabelledSend>(to, data, how, Life::kPersistent));
  return {};
}

Status exchange(const Address& to, const Layout& out, const Address& from, const Layout& in,
                MPI_Status* status) {
  const p2p::Sent sent(to.comm.owner.world, here(), out);
  p2p::Received received(here(), in, Until::kReturn);
  CLUMP_TRY(sent.may_send(to.comm.owner, to.peer));
  CLUMP_TRY(received.claim(to.comm.owner, from.peer));
  core::Result result;
  const Status outcome = p2p::send_receive(to, sent.whole(), from, received.whole(), &result);
  received.open(to.comm, result);
  core::write_status(status, result, false);
  return result.error != MPI_SUCCESS ? Status::from_code(result.error) : outcome;
}

Status begin_exchange(Rank& self, const Address& to, const Layout& out, const Address& from, const Layout& in,
                      bool is_replaced, MPI_Request* request) {
  auto operation = std::make_unique<p2p::LabelledSendReceive>();
  CLUMP_TRY(operation->begin(to, out, from, in, is_replaced));
  *request = self.add(std::move(operation));
  return {};
}

Status claim(Rank& self, p2p::LabelledReceive& receive, MPI_Message message) {
  return message == MPI_MESSAGE_NO_PROC ? Status() : receive.claim(self);
}

/// What a probe tells of a message is about its data.
void leave_label_out(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || status->MPI_SOURCE < 0) return;
  core::set_bytes(*status, core::bytes_of(*status) - static_cast<Count>(sizeof(p2p::Label)));
}

}  // namespace

Status send(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return send_labelled({comm, dest, tag}, layout(buf, count, datatype), Mode::kStandard);
}

Status ssend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return send_labelled({comm, dest, tag}, layout(buf, count, datatype), Mode::kSynchronous);
}

Status rsend(Rank&, const void* buf, Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return send_labelled({comm, dest, tag}, layout(buf, count, datatype), Mode::kReady);
}

Status bsend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
             Comm& comm) {
  const p2p::Sent sent(self.world, here(), layout(buf, count, datatype));
  CLUMP_TRY(sent.may_send(self, dest));
  return p2p::buffered_send({comm, dest, tag}, sent.whole());
}

Status recv(Rank& self, void* buf, Count count, const Datatype& datatype, int source, int tag, Comm& comm,
            MPI_Status* status) {
  p2p::Received received(here(), layout(buf, count, datatype), Until::kReturn);
  CLUMP_TRY(received.claim(self, source));
  core::Operation operation;
  static_cast<void>(p2p::receive({comm, source, tag}, received.whole(), operation));
  received.open(comm, operation.result);
  core::write_status(status, operation.result, false);
  return Status::from_code(operation.result.error);
}

Status isend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
             Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {});
}

Status issend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
              Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {Mode::kSynchronous});
}

Status irsend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
              Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {Mode::kReady});
}

Status ibsend(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
              Comm& comm, MPI_Request* request) {
  return begin_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {.is_buffered = true});
}

Status irecv(Rank& self, void* buf, Count count, const Datatype& datatype, int source, int tag, Comm& comm,
             MPI_Request* request) {
  auto operation = std::make_unique<p2p::LabelledReceive>(layout(buf, count, datatype));
  CLUMP_TRY(operation->begin({comm, source, tag}));
  *request = self.add(std::move(operation));
  return {};
}

Status sendrecv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, Count recvcount, const Datatype& recvtype, int source, int recvtag, Comm& comm,
                MPI_Status* status) {
  const Layout out = layout(sendbuf, sendcount, sendtype), in = layout(recvbuf, recvcount, recvtype);
  if (dest != MPI_PROC_NULL && source != MPI_PROC_NULL) CLUMP_TRY(p2p::keep_apart(comm.owner.world, out, in));
  return exchange({comm, dest, sendtag}, out, {comm, source, recvtag}, in, status);
}

Status sendrecv_replace(Rank&, void* buf, Count count, const Datatype& datatype, int dest, int sendtag,
                        int source, int recvtag, Comm& comm, MPI_Status* status) {
  const Layout buffer = layout(buf, count, datatype);
  return exchange({comm, dest, sendtag}, buffer, {comm, source, recvtag}, buffer, status);
}

Status isendrecv(Rank& self, const void* sendbuf, Count sendcount, const Datatype& sendtype, int dest,
                 int sendtag, void* recvbuf, Count recvcount, const Datatype& recvtype, int source,
                 int recvtag, Comm& comm, MPI_Request* request) {
  return begin_exchange(self, {comm, dest, sendtag}, layout(sendbuf, sendcount, sendtype),
                        {comm, source, recvtag}, layout(recvbuf, recvcount, recvtype), false, request);
}

Status isendrecv_replace(Rank& self, void* buf, Count count, const Datatype& datatype, int dest, int sendtag,
                         int source, int recvtag, Comm& comm, MPI_Request* request) {
  const Layout buffer = layout(buf, count, datatype);
  return begin_exchange(self, {comm, dest, sendtag}, buffer, {comm, source, recvtag}, buffer, true, request);
}

Status send_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                 Comm& comm, MPI_Request* request) {
  return keep_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {});
}

Status ssend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  return keep_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {Mode::kSynchronous});
}

Status rsend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  return keep_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {Mode::kReady});
}

Status bsend_init(Rank& self, const void* buf, Count count, const Datatype& datatype, int dest, int tag,
                  Comm& comm, MPI_Request* request) {
  return keep_send(self, {comm, dest, tag}, layout(buf, count, datatype), request, {.is_buffered = true});
}

Status recv_init(Rank& self, void* buf, Count count, const Datatype& datatype, int source, int tag,
                 Comm& comm, MPI_Request* request) {
  auto operation = std::make_unique<p2p::LabelledReceive>(layout(buf, count, datatype));
  operation->keep({comm, source, tag});
  *request = self.add(std::move(operation));
  return {};
}

Status probe(Rank& self, int source, int tag, Comm& comm, MPI_Status* status) {
  CLUMP_TRY(mpi::probe(self, source, tag, comm, status));
  leave_label_out(status);
  return {};
}

Status iprobe(Rank& self, int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  CLUMP_TRY(mpi::iprobe(self, source, tag, comm, flag, status));
  if (*flag != 0) leave_label_out(status);
  return {};
}

Status mprobe(Rank& self, int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status) {
  CLUMP_TRY(mpi::mprobe(self, source, tag, comm, message, status));
  leave_label_out(status);
  return {};
}

Status improbe(Rank& self, int source, int tag, Comm& comm, int* flag, MPI_Message* message,
               MPI_Status* status) {
  CLUMP_TRY(mpi::improbe(self, source, tag, comm, flag, message, status));
  if (*flag != 0) leave_label_out(status);
  return {};
}

Status mrecv(Rank& self, void* buf, Count count, const Datatype& datatype, MPI_Message* message,
             MPI_Status* status) {
  p2p::LabelledReceive receive(layout(buf, count, datatype));
  Status outcome = claim(self, receive, *message);
  if (outcome.ok()) outcome = receive_matched(self, message, receive);
  if (outcome.ok()) {
    receive.completion.wait();
    receive.ask(false);
    core::write_status(status, receive.result, false);
    outcome = Status::from_code(receive.result.error);
  }
  return outcome.ok() ? outcome : Status::from_code(raise(self, receive.comm.get(), "MPI_Mrecv", outcome));
}

Status imrecv(Rank& self, void* buf, Count count, const Datatype& datatype, MPI_Message* message,
              MPI_Request* request) {
  auto receive = std::make_unique<p2p::LabelledReceive>(layout(buf, count, datatype));
  CLUMP_TRY(claim(self, *receive, *message));
  CLUMP_TRY(receive_matched(self, message, *receive));
  *request = self.add(std::move(receive));
  return {};
}

}  // namespace clump::mpi::checked
