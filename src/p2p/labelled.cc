#include "p2p/labelled.h"

namespace clump::p2p {

namespace {

/// Looks once: the error stays in the result, so that the user gets it as often as the user asks.
void look(std::optional<Sent>& sent, core::Request& request) {
  if (!sent) return;
  const base::Status status = sent->look(request.comm->owner.world);
  if (!status.ok() && request.result.error == MPI_SUCCESS) request.result.error = status.code();
  sent.reset();
}

void open(std::optional<Received>& received, core::Request& request) {
  if (!received) return;
  received->open(*request.comm, request.result);
  received.reset();
}

}  // namespace

LabelledSend::LabelledSend(const Address& to, const datatype::Layout& data, SendCall how, Life life)
    : to_(to), data_(data), how_(how), made_(*core::Site::current) {
  kind = Kind::kChecked;
  if (life == Life::kPersistent)
    keep(*this, to, data);
  else
    uses(to.comm, *data.type);
}

base::Status LabelledSend::start() { return persistent ? begin_now() : Request::start(); }

base::Status LabelledSend::begin_now() {
  const core::World& world = to_.comm.owner.world;
  Sent& sent = sent_.emplace(world, made_, data_);
  sent.started(*core::Site::current);
  CLUMP_TRY(sent.may_send(to_.comm.owner, to_.peer));
  if (how_.is_buffered) CLUMP_TRY(buffered_send(to_, sent.whole()));
  activate(*this);
  if (how_.is_buffered)
    complete();
  else
    begin(to_, sent.whole(), how_.mode);
  return {};
}

void LabelledSend::ask(bool) { look(sent_, *this); }

core::Request::Sending LabelledSend::sending() const { return p2p::sending(to_, data_); }

LabelledReceive::LabelledReceive(const datatype::Layout& data) : data_(data), made_(*core::Site::current) {
  kind = Kind::kChecked;
  is_labelled = true;
  if (!data.type->is_predefined()) type = datatype::Ref(data.type);
  prepare();
}

void LabelledReceive::prepare() {
  received_.emplace(made_, data_, Received::Until::kCompletion);
  buffer = received_->whole();
}

base::Status LabelledReceive::begin(const Address& from) {
  CLUMP_TRY(received_->claim(from.comm.owner, from.peer));
  comm = base::Ref<core::Comm>(&from.comm);
  ReceiveOperation::begin(from, received_->whole());
  return {};
}

void LabelledReceive::keep(const Address& from) {
  received_.reset();
  p2p::keep(*this, from, data_);
  from_.emplace(from);
}

base::Status LabelledReceive::start() {
  if (!persistent) return Request::start();
  prepare();
  if (const base::Status claimed = received_->claim(from_->comm.owner, from_->peer); !claimed.ok()) {
    received_.reset();
    return claimed;
  }
  activate(*this);
  ReceiveOperation::begin(*from_, received_->whole());
  return {};
}

void LabelledReceive::ask(bool) { open(received_, *this); }

/// No call asks for the result of an abandoned receive, so the message is opened here.
void LabelledReceive::end_abandoned() {
  open(received_, *this);
  ReceiveOperation::end_abandoned();
}

std::string LabelledReceive::words(const std::string& name_of_comm) const {
  const std::string source =
      key.source == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : comm->peers().name_of(key.source);
  const std::string tag = key.tag == MPI_ANY_TAG ? "MPI_ANY_TAG" : fmt::format("tag {}", key.tag);
  return fmt::format("{}({} x {} from {}, {}, {}){}", made_.call, data_.count, data_.type->description(),
                     source, tag, name_of_comm, comm->owner.world.at(made_));
}

base::Status LabelledSendReceive::begin(const Address& to, const datatype::Layout& out, const Address& from,
                                        const datatype::Layout& in, bool is_replaced) {
  kind = Kind::kChecked;
  comm = base::Ref<core::Comm>(&to.comm);
  is_replaced_ = is_replaced;
  const core::Site& site = *core::Site::current;
  sent_.emplace(to.comm.owner.world, site, out);
  received_.emplace(site, in, Received::Until::kCompletion);
  const bool has_both = to.peer != MPI_PROC_NULL && from.peer != MPI_PROC_NULL;
  if (!is_replaced && has_both) CLUMP_TRY(keep_apart(to.comm.owner.world, out, in));
  CLUMP_TRY(sent_->may_send(to.comm.owner, to.peer));
  CLUMP_TRY(received_->claim(to.comm.owner, from.peer));
  SendReceive::begin(to, sent_->whole(), from, received_->whole());
  return {};
}

void LabelledSendReceive::ask(bool) {
  if (is_replaced_)
    sent_.reset();
  else
    look(sent_, *this);
  open(received_, *this);
}

void LabelledSendReceive::end_abandoned() {
  open(received_, *this);
  SendReceive::end_abandoned();
}

}  // namespace clump::p2p
