// What an endpoint context has to send, now or when there is room, and what it has to report when it holds no
// lock any more.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mpsc_stack.h"
#include "net/ofi/wire.h"

namespace clump::net::ofi {

class OfiRendezvous;

/// Something to be sent to a process, or a step that leads to it.
struct PendingSend {
  enum class Kind : std::uint8_t {
    kMessage,    ///< with its bytes, or as an RTS
    kFetch,      ///< asks for the next pieces of a rendezvous message
    kPiece,      ///< a piece of a message that was asked for
    kFin,        ///< a rendezvous message is not needed any more
    kCancel,     ///< asks for a rendezvous message to be given back
    kCancelled,  ///< it was given back
    kCredit,     ///< more short messages may come
  };
  Kind kind;
  int process;                     ///< the destination
  int source = 0;                  ///< kMessage: the sending rank
  bool may_be_short = false;       ///< kMessage: its bytes may be sent before the receiver asks for them
  SendRequest* message = nullptr;  ///< kMessage, and what retract() takes back
  std::uint64_t number = 0;        ///< kFin, kCancel, kCancelled: the message's, at its sender
  OfiRendezvous* rendezvous = nullptr;
  wire::Address address{};  ///< kMessage, kCancel: a copy, as the message may be gone
  wire::CtsBody piece{};
};

/// The PendingSends of threads that have found the endpoint context's lock taken. Any thread pushes; the
/// owner of the lock takes.
class PendingSends {
 public:
  ~PendingSends() {
    take_all([](const PendingSend&) {});
  }
  bool empty() const noexcept { return entries_.empty(); }
  void push(const PendingSend& what) { entries_.push(*new Entry{what}); }
  /// Takes all, the oldest first.
  template <typename Take>
  void take_all(Take take) {
    for (Entry* oldest = entries_.take_all(); oldest != nullptr;) {
      const std::unique_ptr<Entry> entry(oldest);
      oldest = entry->next;
      take(entry->what);
    }
  }

 private:
  struct Entry {
    PendingSend what;
    Entry* next = nullptr;
  };
  base::MpscStack<&Entry::next> entries_;
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
  /// Calls `give` for each message; `give` may end the message.
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

/// What is to be reported when no lock is held any more.
struct Later {
  SendRequestList matched;    ///< messages that are to be moved
  SendRequestList fetched;    ///< messages whose data have arrived in the receiver's buffer; they end
  SendRequestList released;   ///< messages that are their senders' again
  SendRequestList withdrawn;  ///< the same for messages that were not sent
  std::vector<std::pair<int, std::string>> lost;
};

}  // namespace clump::net::ofi
