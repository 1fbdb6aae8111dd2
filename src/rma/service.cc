#include "rma/service.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "rma/direct.h"

namespace clump::rma {

namespace {

using datatype::Datatype;
using datatype::Layout;
using Asks = Header::Kind;

const Datatype* byte_type() { return datatype::predefined(MPI_BYTE); }
Layout bytes_at(void* base, Count bytes) { return {base, bytes, byte_type()}; }
const Datatype* predefined(std::intptr_t handle) {
  return datatype::predefined(reinterpret_cast<MPI_Datatype>(handle));
}

bool moves_data(const Header& header) { return header.kind <= Asks::kCompareAndSwap; }

/// Of an accumulate or a compare-and-swap.
bool has_operation(const Header& header) {
  if (header.kind == Asks::kCompareAndSwap) return header.count == 1;
  const auto op = static_cast<datatype::PredefinedOp>(header.op);
  const Datatype* const element = predefined(header.element);
  if (element == nullptr || element->size() == 0) return false;
  return op == datatype::PredefinedOp::kReplace || op == datatype::PredefinedOp::kNoOp ||
         datatype::kernel(op, *element) != nullptr;
}

}  // namespace

const char* wrong_with(const Header& header, Count bytes) {
  constexpr Count kMostType = Count{1} << 30;
  const Count rest = bytes - static_cast<Count>(sizeof header);
  if (rest < 0) return "its length";
  if (header.kind > Asks::kStop) return "its kind";
  if (header.lock != LockType::kShared && header.lock != LockType::kExclusive) return "its kind of lock";
  if (header.number < 0 || header.number > kNumbers) return "its number";
  if (header.count < 0) return "its count";
  if (header.type_bytes < 0 || header.type_bytes > kMostType || header.type_bytes % sizeof(Count) != 0 ||
      (header.has_type && header.type_bytes > rest))
    return "the length of its datatype";
  if (header.data_bytes < 0 ||
      (header.has_data && header.data_bytes > rest - (header.has_type ? header.type_bytes : 0)))
    return "the length of its data";
  if (!moves_data(header)) return nullptr;
  if (header.type != 0 ? predefined(header.type) == nullptr : header.type_bytes == 0) return "its datatype";
  const bool computes = header.kind == Asks::kCombine || header.kind == Asks::kCompareAndSwap;
  return computes && !has_operation(header) ? "its operation" : nullptr;
}

void OutgoingMessage::send(const p2p::Address& to, const Layout& data, std::unique_ptr<std::byte[]> memory,
                           std::unique_ptr<DescribedType> type) {
  if (p2p::try_send(to, data)) return;
  auto* const message = new OutgoingMessage(std::move(memory), std::move(type));
  message->uses(to.comm, *data.type);
  message->begin_untaken(to, data);
}

/// One operation of an origin, until its reply is sent. It deletes itself.
class IncomingOperation final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  IncomingOperation(Window& window, int origin, const Frame& frame)
      : window_(window), origin_(origin), frame_(frame), header_(frame_.header) {}
  /// Does what can be done now, and goes on when messages come.
  void run() override;

 private:
  friend class Service;
  enum class Step : std::uint8_t { kType, kPlace, kData, kDo };

  core::Comm& comm() { return *window_.comm; }
  void receive(Tag tag, const Layout& to) {
    result = {};
    completion.reset();
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
    begin(address(comm(), origin_, tag, header_.number), to);
  }
  void end_abandoned() override { net::run_here(this); }
  const std::byte* data_behind_header() const {
    return frame_.rest.data() + (header_.has_type ? header_.type_bytes : 0);
  }
  bool find_type();
  const char* find_place();
  bool find_data();
  void work();
  void reply_with_code(int code);
  void reply(const Layout& data, std::unique_ptr<std::byte[]> memory);

  Window& window_;
  const int origin_;
  const Frame frame_;
  const Header& header_;
  Step step_ = Step::kType;
  std::vector<Count> description_;
  std::unique_ptr<DescribedType> described_;
  const Datatype* element_ = nullptr;
  Layout place_;
  bool reached_ = true;
  std::unique_ptr<std::byte[]> data_;
};

void IncomingOperation::run() {
  if (step_ == Step::kType) {
    step_ = Step::kPlace;
    if (!find_type()) return;
  }
  if (step_ == Step::kPlace) {
    if (const char* const wrong = find_place(); wrong != nullptr) {
      window_.end_job(origin_, wrong);
      return;
    }
    step_ = Step::kDo;
    if (!find_data()) return;
  }
  work();
  delete this;
}

/// False: the description comes as a message.
bool IncomingOperation::find_type() {
  if (header_.type != 0 || header_.type_bytes == 0) return true;
  description_.resize(static_cast<std::size_t>(header_.type_bytes) / sizeof(Count));
  if (!header_.has_type) {
    receive(Tag::kType, bytes_at(description_.data(), header_.type_bytes));
    return false;
  }
  std::memcpy(description_.data(), frame_.rest.data(), static_cast<std::size_t>(header_.type_bytes));
  return true;
}

/// What is wrong with it; null: nothing.
const char* IncomingOperation::find_place() {
  if (!moves_data(header_)) return nullptr;
  if (!description_.empty()) {
    described_ = DescribedType::make(description_);
    if (described_ == nullptr) return "its datatype";
  }
  const Datatype* const type = described_ != nullptr ? &described_->type() : predefined(header_.type);
  place_ = {window_.base() + header_.offset, header_.count, type};
  if (header_.element != 0) element_ = predefined(header_.element);
  using Wide = __int128;
  const Wide bytes = Wide{header_.count} * type->size(), last = (Wide{header_.count} - 1) * type->extent();
  const Wide first = Wide{header_.offset} + type->true_lb() + std::min<Wide>(last, 0);
  const Wide end = Wide{header_.offset} + type->true_lb() + type->true_extent() + std::max<Wide>(last, 0);
  const bool is_dynamic = window_.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  constexpr Count kMostAddress = std::numeric_limits<Count>::max();
  if (bytes > 0 && (first < 0 || end > (is_dynamic ? kMostAddress : window_.size()))) return "its place";
  const bool brings_none = header_.kind == Asks::kGet ||
                           (header_.kind == Asks::kCombine &&
                            static_cast<datatype::PredefinedOp>(header_.op) == datatype::PredefinedOp::kNoOp);
  const Wide brings = brings_none ? 0 : header_.kind == Asks::kCompareAndSwap ? 2 * bytes : bytes;
  if (header_.kind == Asks::kCompareAndSwap && !type->is_dense()) return "its datatype";
  if (header_.data_bytes != brings) return "the length of its data";
  if (header_.kind == Asks::kCombine && bytes % element_->size() != 0) return "the type of its elements";
  reached_ = window_.holds(place_);
  return nullptr;
}

/// False: the data comes as a message.
bool IncomingOperation::find_data() {
  if (header_.data_bytes == 0) return true;
  const Count bytes = header_.data_bytes;
  Layout to;
  if (header_.kind == Asks::kPut && reached_) {
    to = place_;
  } else if (header_.kind == Asks::kCombine && reached_) {
    const Count n = bytes / element_->size();
    data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n * element_->extent()));
    to = {data_.get(), n, element_};
  } else {
    data_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    to = bytes_at(data_.get(), bytes);
  }
  if (!header_.has_data) {
    receive(Tag::kData, to);
    return false;
  }
  datatype::unpack(to, 0, {data_behind_header(), static_cast<std::size_t>(bytes)});
  return true;
}

void IncomingOperation::reply_with_code(int code) {
  const auto value = static_cast<std::int32_t>(code);
  OutgoingMessage::send(address(comm(), origin_, Tag::kReply, header_.number),
                        std::as_bytes(std::span(&value, 1)));
}

void IncomingOperation::reply(const Layout& data, std::unique_ptr<std::byte[]> memory) {
  OutgoingMessage::send(address(comm(), origin_, Tag::kReply, header_.number), data, std::move(memory),
                        std::move(described_));
}

void IncomingOperation::work() {
  const bool wants_data = header_.kind == Asks::kGet || header_.wants_result;
  if (!reached_) {
    if (wants_data) return reply(bytes_at(nullptr, 0), nullptr);  // too short: the origin sees the error
    return reply_with_code(MPI_ERR_RMA_RANGE);
  }
  const Target& own = window_.target(window_.rank());
  switch (header_.kind) {
    case Asks::kGet:
      return reply(place_, nullptr);
    case Asks::kCombine: {
      const Count n = place_.bytes() / element_->size();
      std::unique_ptr<std::byte[]> before;
      if (header_.wants_result)
        before =
            std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n * element_->extent()));
      const auto op = static_cast<datatype::PredefinedOp>(header_.op);
      const fiber::ComputeAs owner(window_.control);
      static_cast<void>(
          direct_combine(own, place_, header_.offset,
                         {*element_, op, datatype::kernel(op, *element_), data_.get(), before.get()}));
      if (!header_.wants_result) return reply_with_code(MPI_SUCCESS);
      const Layout found{before.get(), n, element_};
      return reply(found, std::move(before));
    }
    case Asks::kCompareAndSwap: {
      const auto bytes = static_cast<std::size_t>(place_.type->size());
      auto before = std::make_unique_for_overwrite<std::byte[]>(bytes);
      static_cast<void>(direct_compare_and_swap(own, static_cast<std::byte*>(place_.base), header_.offset,
                                                *place_.type, data_.get(), data_.get() + bytes,
                                                before.get()));
      const Layout found = bytes_at(before.get(), static_cast<Count>(bytes));
      return reply(found, std::move(before));
    }
    case Asks::kTryLock: {
      auto answer = std::make_unique_for_overwrite<std::byte[]>(1);
      answer[0] = std::byte{own.control->lock.try_take(header_.lock, origin_)};
      const Layout found = bytes_at(answer.get(), 1);
      return reply(found, std::move(answer));
    }
    default:
      return reply_with_code(MPI_SUCCESS);
  }
}

void Service::post() {
  result = {};
  completion.reset();
  static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  begin(address(*window_.comm, MPI_ANY_SOURCE, Tag::kHeader), bytes_at(&frame_, sizeof frame_));
}

void Service::run() {
  const int origin = result.source;
  const Header& header = frame_.header;
  const bool is_own = origin == window_.rank();
  const char* wrong = wrong_with(header, result.bytes);
  if (wrong == nullptr && header.kind == Asks::kStop && !is_own) wrong = "its kind";
  if (wrong != nullptr) return window_.end_job(origin, wrong);
  switch (header.kind) {
    case Asks::kStop:
      stopped_.signal();
      return;  // the last access
    case Asks::kLock:
      window_.serve_lock(header.lock, origin);
      break;
    case Asks::kUnlock:
      window_.serve_unlock(header.lock);
      [[fallthrough]];
    default:
      // Before the next header is received: operations of one origin begin in their order.
      (new IncomingOperation(window_, origin, frame_))->run();
  }
  post();
}

void Service::stop() {
  const Frame frame{.header = {.kind = Asks::kStop}, .rest = {}};
  OutgoingMessage::send(address(*window_.comm, window_.rank(), Tag::kHeader),
                        std::as_bytes(std::span(&frame, 1)).first(sizeof frame.header));
  stopped_.wait();
}

}  // namespace clump::rma
