#include "rma/messages.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "net/progress_tasks.h"
#include "rma/described_type.h"
#include "rma/service.h"

namespace clump::rma {

using datatype::Datatype;
using datatype::Layout;

p2p::Address address(core::Comm& comm, int peer, Tag tag, int number) {
  return {comm, peer, static_cast<int>(tag) + number, true};
}

void send_note(core::Comm& comm, int peer, Tag tag) { OutgoingMessage::send(address(comm, peer, tag), {}); }

/// Waits for replies.
struct Messages::Flush {
  Awaited what;
  fiber::Completion done;
  Flush* next = nullptr;
};

/// The receive of an operation's reply. It deletes itself.
class Messages::Reply final : public p2p::ReceiveOperation {
 public:
  Reply(Messages& messages, int rank, bool separate, core::Request* user)
      : messages_(messages), rank_(rank), separate_(separate), user_(user) {
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  }
  /// `room`: where the data goes; no type: the reply is an error class.
  void begin_in(core::Comm& comm, int number, const Layout& room) {
    if (room.type != nullptr) {
      wanted_ = room.bytes();
      uses(comm, *room.type);
    }
    const Layout code{&code_, sizeof code_, datatype::predefined(MPI_BYTE)};
    begin(address(comm, rank_, Tag::kReply, number), room.type != nullptr ? room : code);
  }

 private:
  void end_abandoned() override {
    if (wanted_ > 0) code_ = result.bytes == wanted_ ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    core::Request* const user = user_;
    Messages& messages = messages_;
    const int rank = rank_, code = code_;
    const bool separate = separate_;
    delete this;
    if (user != nullptr) {
      if (code != MPI_SUCCESS) user->result.error = messages.why_failed(rank, code).code();
      user->complete();
    }
    messages.replied(rank, separate, user == nullptr ? code : MPI_SUCCESS);  // one call tells it
  }

  Messages& messages_;
  const int rank_;
  const bool separate_;
  core::Request* const user_;  // the program's; null: none
  Count wanted_ = 0;
  std::int32_t code_ = MPI_SUCCESS;
};

struct Messages::Asked {
  Layout data = {};                ///< goes with the header; no type: none
  Layout room = {};                ///< where the reply goes; no type: it is an error class
  const Datatype* type = nullptr;  ///< of the target; null: none
};

Messages::Messages(Window& window, bool serves)
    : window_(window),
      open_(static_cast<std::size_t>(window.ranks())),
      separate_(open_.size()),
      errors_(open_.size()) {
  if (!serves) return;
  service_ = std::make_unique<Service>(window);
  service_->begin_service();
}

Messages::~Messages() { stop(); }

void Messages::stop() {
  if (service_ != nullptr) service_->stop();
  service_.reset();
}

base::Status Messages::ask(int rank, Header header, Asked asked, MPI_Request* request) {
  core::Comm& comm = *window_.comm;
  header.number = static_cast<int>(numbers_.fetch_add(1, std::memory_order_relaxed)) & kNumbers;
  Frame frame;
  std::vector<Count> description;
  if (asked.type != nullptr) header.type = asked.type->handle_value();
  if (asked.type != nullptr && header.type == 0) description = describe(*asked.type);
  const auto type_bytes = std::as_bytes(std::span(description));
  header.type_bytes = static_cast<Count>(type_bytes.size());
  header.data_bytes = asked.data.bytes();
  std::span<std::byte> room(frame.rest);
  header.has_type = type_bytes.size() <= room.size();
  if (header.has_type) {
    std::ranges::copy(type_bytes, room.begin());
    room = room.subspan(type_bytes.size());
  }
  header.has_data = header.data_bytes <= static_cast<Count>(room.size());
  if (header.has_data && header.data_bytes > 0) {
    datatype::pack(room.first(static_cast<std::size_t>(header.data_bytes)), asked.data, 0);
    room = room.subspan(static_cast<std::size_t>(header.data_bytes));
  }
  frame.header = header;

  const bool combines = header.kind == Header::Kind::kCombine || header.kind == Header::Kind::kCompareAndSwap;
  const bool separate = combines && !(header.has_data && header.has_type);
  if (combines) wait_for({.rank = rank, .separate = true});
  if (all_open_.load(std::memory_order_relaxed) >= kMostOpen) wait_for({.most = kMostOpen / 2});
  {
    const std::lock_guard lock(mutex_);
    ++open_[static_cast<std::size_t>(rank)];
    ++all_open_;
    if (separate) ++separate_[static_cast<std::size_t>(rank)];
  }
  core::Request* user = nullptr;
  if (request != nullptr) {
    auto note = std::make_unique<OperationRequest>(window_, rank);
    user = note.get();
    *request = window_.owner.add(std::move(note));
  }
  (new Reply(*this, rank, separate, user))->begin_in(comm, header.number, asked.room);

  const auto used = sizeof frame - room.size();
  OutgoingMessage::send(address(comm, rank, Tag::kHeader), std::as_bytes(std::span(&frame, 1)).first(used));
  if (!header.has_type) OutgoingMessage::send(address(comm, rank, Tag::kType, header.number), type_bytes);
  if (!header.has_data)
    OutgoingMessage::send(address(comm, rank, Tag::kData, header.number), asked.data, nullptr, nullptr);
  return {};
}

void Messages::replied(int rank, bool separate, int error) {
  Flush* over = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(rank);
    --open_[at];
    --all_open_;
    if (separate) --separate_[at];
    if (errors_[at] == MPI_SUCCESS) errors_[at] = error;
    for (Flush** link = &waiting_; *link != nullptr;) {
      Flush& flush = **link;
      if (is_open(flush.what)) {
        link = &flush.next;
        continue;
      }
      *link = flush.next;
      flush.next = std::exchange(over, &flush);
    }
  }
  while (over != nullptr) std::exchange(over, over->next)->done.signal();
}

bool Messages::is_open(const Awaited& what) const {
  if (what.rank < 0) return all_open_ > what.most;
  return (what.separate ? separate_ : open_)[static_cast<std::size_t>(what.rank)] > 0;
}

void Messages::wait_for(const Awaited& what) {
  Flush flush{what, {}};
  {
    const std::lock_guard lock(mutex_);
    if (!is_open(what)) return;
    flush.next = std::exchange(waiting_, &flush);
  }
  flush.done.wait();
}

base::Status Messages::why_failed(int rank, int error) const {
  return base::fail(error,
                    "an operation of rank {} on {} did not find the memory that it names: attach it there "
                    "first (MPI_Win_attach)",
                    window_.rank(), window_.name_of(rank));
}

base::Status Messages::flush(int rank) {
  wait_for({.rank = rank});
  const std::lock_guard lock(mutex_);
  for (int at = std::max(rank, 0); at < (rank < 0 ? window_.ranks() : rank + 1); ++at)
    if (const int error = std::exchange(errors_[static_cast<std::size_t>(at)], MPI_SUCCESS))
      return why_failed(at, error);
  return {};
}

base::Status Messages::put(const Layout& from, const Place& to, Count offset, MPI_Request* request) {
  Header header{.kind = Header::Kind::kPut, .offset = offset, .count = to.count};
  return ask(to.rank, header, {.data = from, .type = &to.type}, request);
}

base::Status Messages::get(const Layout& to, const Place& from, Count offset, MPI_Request* request) {
  Header header{.kind = Header::Kind::kGet, .offset = offset, .count = from.count};
  return ask(from.rank, header, {.room = to, .type = &from.type}, request);
}

base::Status Messages::combine(const Combination& what, const Datatype& element, const Place& with,
                               Count offset, MPI_Request* request) {
  const bool wants_result = what.result.type != nullptr;
  Header header{.kind = Header::Kind::kCombine,
                .wants_result = wants_result,
                .op = static_cast<std::int32_t>(what.op),
                .offset = offset,
                .count = with.count,
                .element = element.handle_value()};
  if (header.element == 0)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "(target_datatype): an accumulate on another host with elements of a type from "
                      "MPI_Type_create_f90_real or its kin is not built yet: use the predefined type");
  const Layout nothing{nullptr, 0, datatype::predefined(MPI_BYTE)};
  const bool reads = what.op != datatype::PredefinedOp::kNoOp;
  return ask(with.rank, header,
             {.data = reads ? what.operand : nothing,
              .room = wants_result ? what.result : Layout(),
              .type = &with.type},
             request);
}

base::Status Messages::compare_and_swap(const void* both, void* result, const Place& with, Count offset) {
  Header header{.kind = Header::Kind::kCompareAndSwap, .wants_result = true, .offset = offset, .count = 1};
  const Count bytes = with.type.size();
  const Layout data{const_cast<void*>(both), 2 * bytes, datatype::predefined(MPI_BYTE)};
  return ask(with.rank, header, {.data = data, .room = {result, 1, &with.type}, .type = &with.type}, nullptr);
}

void Messages::lock(LockType type, int rank) {
  const Frame frame{.header = {.kind = Header::Kind::kLock, .lock = type}, .rest = {}};
  OutgoingMessage::send(address(*window_.comm, rank, Tag::kHeader),
                        std::as_bytes(std::span(&frame, 1)).first(sizeof frame.header));
}

bool Messages::try_lock(LockType type, int rank) {
  std::byte taken{0};
  const Header header{.kind = Header::Kind::kTryLock, .lock = type, .wants_result = true};
  static_cast<void>(ask(rank, header, {.room = {&taken, 1, datatype::predefined(MPI_BYTE)}}, nullptr));
  wait_for({.rank = rank});
  return taken != std::byte{0};
}

base::Status Messages::unlock(LockType type, int rank) {
  return ask(rank, {.kind = Header::Kind::kUnlock, .lock = type}, {}, nullptr);
}

}  // namespace clump::rma
