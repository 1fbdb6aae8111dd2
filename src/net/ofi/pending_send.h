// What a endpoint context has to do, now or when there is room, and what it has to tell when it holds no lock any more.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/ofi/wire.h"

namespace clump::net::ofi {

class OfiRendezvous;

/// Something to be sent to a process, or that leads to it.
struct PendingSend {
  enum class Kind : std::uint8_t {
    kMessage,    ///< with its bytes or as an offer
    kFetch,      ///< the next pieces of an offered message are asked for
    kPiece,      ///< of a message that was asked for
    kFin,      ///< an offered message is not needed any more
    kCancel,   ///< an offer shall be given back
    kCancelled,  ///< it was
    kCredit,     ///< more short messages may come
  };
  Kind kind;
  int process;                  ///< to which
  int source = 0;               ///< kMessage: the sending rank
  bool may_be_short = false;    ///< kMessage: its bytes may be sent before anybody wants them
  SendRequest* message = nullptr;  ///< here, or there where it is from there
  OfiRendezvous* offered = nullptr;
  wire::Address address{};  ///< kMessage, kCancel: the message may be gone
  wire::CtsBody piece{};
};

/// Posts by threads that have found the endpoint context busy. Any thread pushes; whoever has the endpoint context takes.
class PendingSends {
 public:
  ~PendingSends() {
    take_all([](const PendingSend&) {});
  }
  bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }
  void push(const PendingSend& post) {
    auto* const entry = new Entry{post, newest_.load(std::memory_order_relaxed)};
    // release: pairs with the acquire in take_all().
    while (!newest_.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  /// The oldest first.
  template <typename Take>
  void take_all(Take take) {
    Entry* oldest = nullptr;
    for (Entry* entry = newest_.exchange(nullptr, std::memory_order_acquire); entry != nullptr;) {
      Entry* const next = entry->next;
      entry->next = oldest;
      oldest = entry;
      entry = next;
    }
    while (oldest != nullptr) {
      const std::unique_ptr<Entry> entry(oldest);
      oldest = entry->next;
      take(entry->post);
    }
  }

 private:
  struct Entry {
    PendingSend post;
    Entry* next;
  };
  std::atomic<Entry*> newest_{nullptr};
};

/// Messages linked by their `next`.
class SendRequestList {
 public:
  SendRequestList() = default;
  SendRequestList(const SendRequestList&) = delete;
  SendRequestList& operator=(const SendRequestList&) = delete;
  bool empty() const { return first_ == nullptr; }
  void push(SendRequest& message) {
    message.next = nullptr;
    *last_ = &message;
    last_ = &message.next;
  }
  /// `give` may end the message.
  template <typename Give>
  void give_all(Give give) {
    while (SendRequest* const message = first_) {
      first_ = message->next;
      give(*message);
    }
    last_ = &first_;
  }

 private:
  SendRequest* first_ = nullptr;
  SendRequest** last_ = &first_;
};

/// What is to be told when no lock is held any more.
struct Later {
  SendRequestList matched;    ///< to be moved
  SendRequestList fetched;    ///< are where they were wanted, and end
  SendRequestList released;   ///< are the senders' again
  SendRequestList withdrawn;  ///< the same, unsent
  std::vector<std::pair<int, std::string>> lost;
};

}  // namespace clump::net::ofi
