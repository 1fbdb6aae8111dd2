#include "io/shared_pointer.h"

#include <span>

#include "core/awaited.h"
#include "p2p/unwaited_send.h"

namespace clump::io {

namespace {

// In the collective context of the file's communicator. Collectives have smaller tags.
constexpr int kQuestion = 0x40000000;
constexpr int kAnswer = 0x41000000;  // a number is added
constexpr std::uint32_t kNumbers = 0x00ffffff;

template <typename One>
datatype::Layout bytes_of(One& one) {
  return {&one, sizeof one, datatype::predefined(MPI_BYTE)};
}
template <typename One>
std::span<const std::byte> as_bytes(const One& one) {
  return std::as_bytes(std::span(&one, 1));
}

}  // namespace

PointerService::PointerService(core::Comm& comm, SharedWord& word) : comm_(comm), word_(word) { post(); }

PointerService::~PointerService() {
  p2p::UnwaitedSend::send({comm_, comm_.rank, kQuestion, true},
                          as_bytes(Question{.number = 0, .stops = 1, .add = 0}));
  stopped_.wait();
}

void PointerService::post() {
  result = {};
  completion.reset();
  static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  begin({comm_, MPI_ANY_SOURCE, kQuestion, true}, bytes_of(question_));
}

void PointerService::run() {
  if (question_.stops != 0) return static_cast<void>(stopped_.signal());  // the last access
  const Count before = word_.fetch_add(question_.add, std::memory_order_acq_rel);
  p2p::UnwaitedSend::send({comm_, result.source, kAnswer + question_.number, true}, as_bytes(before));
  post();
}

Count SharedPointer::add(Count etypes) {
  // acq_rel: a thread that finds the pointer there finds what was written before it.
  if (word_ != nullptr) return word_->fetch_add(etypes, std::memory_order_acq_rel);
  const auto number =
      static_cast<std::int32_t>(questions_.fetch_add(1, std::memory_order_relaxed) & kNumbers);
  Count before = 0;
  p2p::ReceiveOperation answer;
  answer.begin({*comm_, 0, kAnswer + number, true}, bytes_of(before));
  p2p::UnwaitedSend::send({*comm_, 0, kQuestion, true},
                          as_bytes(PointerService::Question{.number = number, .stops = 0, .add = etypes}));
  answer.wait();
  return before;
}

}  // namespace clump::io
