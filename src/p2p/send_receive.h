// MPI_Isendrecv and MPI_Isendrecv_replace (MPI-5.0 section 3.10): a send and a receive behind one request.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "p2p/p2p.h"

namespace clump::p2p {

/// A send and a receive: complete when both are. The result is the receive's, with the error of the send if
/// the receive has none.
class SendReceive : public core::Request {
 public:
  /// A copy of the data to send, if they must not stay in the user's buffer because the receive overwrites
  /// it.
  std::vector<std::byte> copy;

  void begin(const Address& to, const datatype::Layout& out, const Address& from, const datatype::Layout& in);
  void before_wait(WaitsFor what) override;
  void tell(std::vector<core::Awaited>& all) const override {
    if (!incoming_.completion.done()) incoming_.tell(all);
    if (!outgoing_.completion.done()) outgoing_.tell(all);
  }

 private:
  /// One half. No thread waits for it by itself: its completion is abandoned, so that its end calls this
  /// object.
  template <typename Operation>
  class Half final : public Operation {
   public:
    explicit Half(SendReceive& whole) : whole_(whole) { static_cast<void>(this->completion.abandon()); }

   private:
    void end_abandoned() override { whole_.half_done(); }
    SendReceive& whole_;
  };
  void half_done();

  std::atomic<int> halves_left_{2};
  Half<ReceiveOperation> incoming_{*this};
  Half<SendOperation> outgoing_{*this};
};

}  // namespace clump::p2p
