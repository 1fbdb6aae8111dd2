// What an endpoint context has to do, now or when there is room, and what it has to tell when it holds no
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

/// Something to be sent to a process, or that leads to it.
struct PendingSend {
  enum class Kind : std::uint8_t {
    kMessage,    ///< with its bytes or as an offer
    kFetch,      ///< the next pieces of an announced message are asked for
    kPiece,      ///< of a message that was asked for
    kFin,        ///< an announced message is not needed any more
    kCancel,     ///< an offer shall be given back
    kCancelled,  ///< it was
    kCredit,     ///< more short messages may come
  };
  Kind kind;
  int process;                     ///< to which
  int source = 0;                  ///< kMessage: the sending rank
  bool may_be_short = false;       ///< kMessage: its bytes may be sent before anybody wants them
  SendRequest* message = nullptr;  ///< here, or there where it is from there
  OfiRendezvous* rendezvous = nullptr;
  wire::Address address{};  ///< kMessage, kCancel: the message may be gone
  wire::CtsBody piece{};
};

/// What threads leave that have found the endpoint context busy. Any thread pushes; the thread that has the
/// context takes.
class PendingSends {
 public:
  ~PendingSends() {
    take_all([](const PendingSend&) {});
  }
  bool empty() const noexcept { return entries_.empty(); }
  void push(const PendingSend& what) { entries_.push(*new Entry{what}); }
  /// The oldest first.
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
