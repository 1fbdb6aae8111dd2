#include "hang/control_messages.h"

#include "pmi/wire.h"

namespace clump::mpiexec {

std::string encode(const ControlMessage& message) {
  pmi::Writer out;
  out.number(message.kind);
  out.number(message.number);
  out.text(message.bytes);
  return out.take();
}

bool decode(const std::string& bytes, ControlMessage& message) {
  pmi::Reader in(bytes);
  message.kind = in.number<ControlMessage::Kind>();
  message.number = in.number<std::uint32_t>();
  message.bytes = in.text();
  return in.finished() && message.kind <= ControlMessage::Kind::kAllDone;
}

std::string encode(const ControlReply& reply) {
  pmi::Writer out;
  out.number(reply.kind);
  out.number(reply.number);
  out.number(reply.holds);
  out.number(reply.cause);
  for (const std::uint64_t sum : {reply.waiting, reply.wakes, reply.sent, reply.taken, reply.progress})
    out.number(sum);
  out.text(reply.bytes);
  return out.take();
}

bool decode(const std::string& bytes, ControlReply& reply) {
  pmi::Reader in(bytes);
  reply.kind = in.number<ControlReply::Kind>();
  reply.number = in.number<std::uint32_t>();
  reply.holds = in.number<bool>();
  reply.cause = in.number<ControlReply::Cause>();
  for (std::uint64_t* sum : {&reply.waiting, &reply.wakes, &reply.sent, &reply.taken, &reply.progress})
    *sum = in.number<std::uint64_t>();
  reply.bytes = in.text();
  return in.finished() && reply.kind <= ControlReply::Kind::kDeadlock &&
         reply.cause <= ControlReply::Cause::kUnreachable;
}

}  // namespace clump::mpiexec
