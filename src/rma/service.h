// The target's side of messages.h: does what headers ask for, in whichever thread delivers them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "fiber/completion.h"
#include "net/progress_tasks.h"
#include "p2p/unwaited_send.h"
#include "rma/described_type.h"
#include "rma/messages.h"

namespace clump::rma {

/// A message that no thread waits for.
class OutgoingMessage final : public p2p::UnwaitedSend {
 public:
  using p2p::UnwaitedSend::send;
  /// Of data that stays where it is. `memory` and `type` are kept for it; both may be null.
  static void send(const p2p::Address& to, const datatype::Layout& data, std::unique_ptr<std::byte[]> memory,
                   std::unique_ptr<DescribedType> type);

 private:
  OutgoingMessage(std::unique_ptr<std::byte[]> memory, std::unique_ptr<DescribedType> type)
      : UnwaitedSend(std::move(memory)), described_(std::move(type)) {}
  std::unique_ptr<DescribedType> described_;
};

/// Receives the headers for one rank, one after the other.
class Service final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  explicit Service(Window& window) : window_(window) {}
  void begin_service() { post(); }
  /// Returns when no more headers will be received; by a thread of the rank.
  void stop();

 private:
  void post();
  void end_abandoned() override { net::run_here(this); }
  void run() override;

  Window& window_;
  Frame frame_;
  fiber::Completion stopped_;
};

}  // namespace clump::rma
