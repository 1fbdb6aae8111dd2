// The receiving side of a rendezvous, as every transport has it.
//
//   sender                          receiver
//     --- RTS ----------------------> an IncomingRendezvous: shown to the Sink, it waits for a receive
//     <-- CTS, or nothing ----------- fetch(): there is a receive; the transport pulls the bytes as it can
//     --- the bytes ---------------->
//     <-- FIN ----------------------- the bytes are there, or no receive wants any (released())
//     --- cancel ------------------->
//     <-- cancelled ----------------- give_back(): there is no receive yet
//
// The protocol is here. A transport says how its control messages are sent, and how the bytes are moved:
// src/net/shm reads the sender's memory, or has pieces copied through staging buffers; src/net/ofi asks for
// tagged transfers.
#pragma once

#include "net/channel.h"

namespace clump::net {

/// A message that another process has announced, from its RTS until its bytes are there. It is made on the
/// heap and deletes itself.
class IncomingRendezvous : public SendRequest {
 public:
  /// No receive wants its bytes.
  void released() final {
    send_fin();
    delete this;
  }
  void fetch(const datatype::Layout& to, Count wanted) final {
    to_ = to;
    wanted_ = wanted;
    pull();
  }
  /// To the sender, which has cancelled it; no receive here has it.
  void give_back() {
    send_cancelled();
    delete this;
  }
  /// The bytes are where they are wanted.
  void finish() {
    sink->fetched(*this);
    delete this;
  }

 protected:
  /// `message` is the sender's, and is followed there only.
  IncomingRendezvous(Envelope its_envelope, Count its_bytes, SendRequest* message) {
    envelope = its_envelope;
    bytes = its_bytes;
    original = message;
    synchronous = true;  // it stays with its sender until there is a receive
    is_remote = true;
  }
  virtual ~IncomingRendezvous() = default;

  // The transport's.
  virtual void send_fin() = 0;
  virtual void send_cancelled() = 0;
  /// Moves the first wanted() bytes to to(); then finish(), and FIN if the sender does not know yet. Now or
  /// later, by any thread.
  virtual void pull() = 0;

  const datatype::Layout& to() const { return to_; }
  Count wanted() const { return wanted_; }
  void finish_with_fin() {
    send_fin();
    finish();
  }

 private:
  datatype::Layout to_;
  Count wanted_ = 0;
};

}  // namespace clump::net
