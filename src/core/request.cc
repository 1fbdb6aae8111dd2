#include "core/request.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace clump::core {

namespace {

// MPI_Status.MPI_internal: [0..1] the packed size, [2] whether it was cancelled.
constexpr int kBytes = 0;
constexpr int kCancelled = 2;

// The size of a block: the operations of point-to-point messages fit; larger ones come from the heap.
constexpr std::size_t kBlockBytes = 320;
#ifdef CLUMP_SANITIZE
constexpr int kMostKept = 0;  // a sanitizer shall see each use after the end, and does not know all threads
#else
constexpr int kMostKept = 256;
#endif

struct Block {
  Block* next;
};

/// The blocks that a thread keeps. Constant initialisation makes access cheap, so the destructor is in
/// ThreadEnd.
struct Kept {
  Block* first = nullptr;
  int count = 0;
  bool closed = true;  // not opened yet, or the thread ends
};
constinit thread_local Kept kept;

/// Frees the blocks when the thread ends.
struct ThreadEnd {
  ThreadEnd() { kept.closed = false; }
  ~ThreadEnd() {
    kept.closed = true;
    while (Block* const block = kept.first) {
      kept.first = block->next;
      std::free(block);
    }
    kept.count = 0;
  }
};

[[gnu::noinline]] void* new_block() {
  thread_local const ThreadEnd thread_end;
  static_cast<void>(&thread_end);
  void* const memory = std::malloc(kBlockBytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* Request::operator new(std::size_t size) {
  if (size > kBlockBytes) return ::operator new(size);
  Block* const block = kept.first;
  if (block == nullptr) return new_block();
  kept.first = block->next;
  --kept.count;
  return block;
}

void Request::operator delete(void* memory, std::size_t size) noexcept {
  if (size > kBlockBytes) return ::operator delete(memory);
  if (kept.closed || kept.count == kMostKept) return std::free(memory);
  kept.first = new (memory) Block{kept.first};
  ++kept.count;
}

Request& completed_request() {
  class Completed final : public Request {
   public:
    Completed() { complete(); }
  };
  static auto* const request = new Completed;
  return *request;
}

// Only the owner of a Request can abandon its completion, so this operation is a Request.
void Operation::end_abandoned_request() { static_cast<Request&>(*this).end_abandoned(); }

base::Status Request::start() {
  return base::fail(
      MPI_ERR_REQUEST,
      "the request is not persistent; only requests made by an MPI_..._init call can be started");
}

void Request::finish_result(bool keep) {
  if (is_to_be_asked()) ask(keep);
  if (copied == nullptr) return;
  for (const CopiedBuffer& one : copied->all) one.give_back(one.copy);
  if (!keep && !persistent) copied.reset();
}

base::Status Request::cancel() { return {}; }

void Request::detach(std::unique_ptr<Request> request) {
  Request& operation = *request;
  operation.self_ = std::move(request);  // abandon() releases: end_abandoned() on another thread sees it
  if (!operation.completion.abandon()) operation.end_abandoned();  // it is complete, and only owned by itself
}

void Request::end_abandoned() { const std::unique_ptr<Request> last_owner = std::move(self_); }

Count bytes_of(const MPI_Status& status) {
  Count bytes;
  std::memcpy(&bytes, &status.MPI_internal[kBytes], sizeof bytes);
  return bytes;
}

void set_bytes(MPI_Status& status, Count bytes) {
  std::memcpy(&status.MPI_internal[kBytes], &bytes, sizeof bytes);
}

bool is_cancelled(const MPI_Status& status) { return status.MPI_internal[kCancelled] != 0; }

void set_cancelled(MPI_Status& status, bool cancelled) {
  status.MPI_internal[kCancelled] = cancelled ? 1 : 0;
}

void write_status(MPI_Status* status, const Result& result, bool with_error) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = result.source;
  status->MPI_TAG = result.tag;
  if (with_error) status->MPI_ERROR = result.error;
  set_bytes(*status, result.bytes);
  set_cancelled(*status, result.cancelled);
}

}  // namespace clump::core
