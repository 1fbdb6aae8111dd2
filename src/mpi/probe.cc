// Probing, and receiving what was probed (MPI-5.0 section 3.8).
#include "core/rank.h"
#include "fiber/polling.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry.h"
#include "mpi/matched.h"
#include "mpi/trace/exploring.h"
#include "p2p/matcher.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using datatype::Datatype;

/// A message that a matched probe has taken out of the matcher.
class MatchedMessage final : public Rank::Message {
 public:
  MatchedMessage(Comm& comm, p2p::Unexpected* message) : comm(&comm), message(message) {}
  const base::Ref<Comm> comm;
  p2p::Unexpected* const message;
};

core::Result no_process() {
  core::Result result;
  result.source = MPI_PROC_NULL;
  return result;
}

core::Result result_of(int source, int tag, Count bytes) {
  core::Result result;
  result.source = source;
  result.tag = tag;
  result.bytes = bytes;
  return result;
}

MPI_Message matched(Rank& self, Comm& comm, p2p::Unexpected* message, MPI_Status* status) {
  core::write_status(status, result_of(message->key.source, message->key.tag, message->bytes), false);
  return self.add(std::make_unique<MatchedMessage>(comm, message));
}

}  // namespace

Status receive_matched(Rank& self, MPI_Message* handle, p2p::ReceiveOperation& receive) {
  if (*handle == MPI_MESSAGE_NO_PROC) {
    receive.result = no_process();
    receive.complete();
    *handle = MPI_MESSAGE_NULL;
    return {};
  }
  const auto message = self.remove(*handle);
  if (message == nullptr)
    return base::fail(MPI_ERR_REQUEST,
                      "message is no message of MPI_Mprobe or MPI_Improbe that is still to be received");
  *handle = MPI_MESSAGE_NULL;
  const auto& taken = static_cast<const MatchedMessage&>(*message);
  receive.comm = taken.comm;
  p2p::matcher_of(self).receive_taken(taken.message, receive);
  return {};
}

Status probe(Rank& self, int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    core::write_status(status, no_process(), false);
    return {};
  }
  p2p::Matcher& matcher = p2p::matcher_of(self);
  const p2p::MatchKey key = p2p::Address{comm, source, tag}.key();
  p2p::Matcher::Probed found;
  while (!matcher.probe(key, found)) matcher.wait_for_arrival(key);
  core::write_status(status, result_of(found.source, found.tag, found.bytes), false);
  return {};
}

Status iprobe(Rank& self, int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    core::write_status(status, no_process(), false);
    return {};
  }
  p2p::Matcher::Probed found;
  p2p::poll(self);
  if (!overlooks(self) && p2p::matcher_of(self).probe(p2p::Address{comm, source, tag}.key(), found)) {
    core::write_status(status, result_of(found.source, found.tag, found.bytes), false);
    return {};
  }
  *flag = 0;
  fiber::yield_after_empty_poll();
  return {};
}

Status mprobe(Rank& self, int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    core::write_status(status, no_process(), false);
    return {};
  }
  p2p::Matcher& matcher = p2p::matcher_of(self);
  const p2p::MatchKey key = p2p::Address{comm, source, tag}.key();
  p2p::Unexpected* taken;
  while ((taken = matcher.withdraw(key)) == nullptr) matcher.wait_for_arrival(key);
  *message = matched(self, comm, taken, status);
  return {};
}

Status improbe(Rank& self, int source, int tag, Comm& comm, int* flag, MPI_Message* message,
               MPI_Status* status) {
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    core::write_status(status, no_process(), false);
    return {};
  }
  p2p::poll(self);
  p2p::Unexpected* const taken =
      overlooks(self) ? nullptr : p2p::matcher_of(self).withdraw(p2p::Address{comm, source, tag}.key());
  if (taken != nullptr) {
    *message = matched(self, comm, taken, status);
    return {};
  }
  *flag = 0;
  *message = MPI_MESSAGE_NULL;
  fiber::yield_after_empty_poll();
  return {};
}

Status mrecv(Rank& self, void* buf, Count count, const Datatype& datatype, MPI_Message* message,
             MPI_Status* status) {
  p2p::ReceiveOperation receive;
  receive.buffer = {buf, count, &datatype};
  Status outcome = receive_matched(self, message, receive);
  if (outcome.ok()) {
    receive.completion.wait();
    core::write_status(status, receive.result, false);
    outcome = Status::from_code(receive.result.error);
  }
  // The error belongs to the communicator of the probe, which the entry point cannot know.
  return outcome.ok() ? outcome : Status::from_code(raise(self, receive.comm.get(), "MPI_Mrecv", outcome));
}

Status imrecv(Rank& self, void* buf, Count count, const Datatype& datatype, MPI_Message* message,
              MPI_Request* request) {
  auto receive = std::make_unique<p2p::ReceiveOperation>();
  receive->buffer = {buf, count, &datatype};
  if (!datatype.is_predefined()) receive->type = datatype::Ref(&datatype);
  CLUMP_TRY(receive_matched(self, message, *receive));
  *request = self.add(std::move(receive));
  return {};
}

}  // namespace clump::mpi
