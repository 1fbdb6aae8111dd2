// A send that no thread waits for: for protocols that are made of messages (windows, shared file pointers).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "p2p/p2p.h"

namespace clump::p2p {

/// Owns itself, and what it is made of, until it is sent.
class UnwaitedSend : public SendOperation {
 public:
  /// Of bytes that are the caller's again when the call returns. Does not block; any thread.
  static void send(const Address& to, std::span<const std::byte> bytes);

 protected:
  explicit UnwaitedSend(std::unique_ptr<std::byte[]> memory) : memory_(std::move(memory)) {
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  }
  void end_abandoned() override { delete this; }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace clump::p2p
