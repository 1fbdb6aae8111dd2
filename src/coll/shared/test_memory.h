// For unit tests: memory as the threads of a small program see it, after each of their atomic operations.
// Used by test_interleavings.h.
//
// Two things of the C++ memory model are here, beside the order in which operations happen:
// - A store waits in a buffer of its thread as long as it likes, but not beyond the thread's next operation
//   that reads and writes, nor, if it is seq_cst, beyond the next load that is. So it matters whether a
//   store, and the load after it, are seq_cst.
// - Clocks tell what happens before what, by release and acquire. Two accesses to data, one of which writes,
//   must be ordered. That is found in whichever order they are made.
// A load never returns a value that memory has no more, and nothing is delayed after what reads and writes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace clump::coll::model {

constexpr int kMostThreads = 3, kMostVariables = 24, kMostData = 4;

enum class Kind : std::uint8_t {
  kLoad,
  kStore,
  kExchange,
  kAdd,
  kCompare,
  kWait,
  kReset,
  kSignal,
  kReadData,
  kWriteData,
  kChoose,  ///< of two ways
  kEnd,     ///< of the part
  kFail     ///< the program has found something wrong
};

struct Operation {
  Kind kind = Kind::kEnd;
  int variable = 0;
  std::uint8_t value = 0, expected = 0;
  std::memory_order order = std::memory_order_seq_cst;
  const char* wrong = nullptr;  ///< what the program has found
};

/// How many accesses to data each thread had made, as far as is known.
struct Clock {
  std::array<std::uint8_t, kMostThreads> made{};
  void join(const Clock& other) {
    for (int i = 0; i < kMostThreads; ++i) made[i] = std::max(made[i], other.made[i]);
  }
  bool knows(const Clock& other) const {
    for (int i = 0; i < kMostThreads; ++i)
      if (made[i] < other.made[i]) return false;
    return true;
  }
};

/// Only bytes without gaps: it is hashed as it lies in memory.
struct State {
  struct Word {
    std::uint8_t value;
    Clock released;
  };
  struct Store {
    std::uint8_t variable;
    std::uint8_t is_ordered;  ///< seq_cst
    Word word;
  };
  struct Data {
    std::uint8_t value;
    Clock written, read;
  };
  struct Thread {
    std::uint8_t node[3];  ///< what it does next: the explorer's
    Clock clock;
    std::uint8_t stores;
    Store buffer[2];
  };
  Word words[kMostVariables];
  Data data[kMostData];
  Thread threads[kMostThreads];

  bool can_happen(const Thread& self, const Operation& operation) const {
    if (operation.kind == Kind::kStore) return self.stores < std::size(self.buffer);
    if (is_of_word(operation.kind) && must_let_stores_out(self, operation)) return false;
    return operation.kind != Kind::kWait || words[operation.variable].value != 0;
  }
  /// The oldest store of the buffer.
  void let_store_out(Thread& self) {
    words[self.buffer[0].variable] = self.buffer[0].word;
    self.buffer[0] = self.buffer[1];
    self.buffer[1] = {};
    --self.stores;
  }
  /// Returns the result. `wrong` becomes what is wrong, if something is.
  std::uint8_t happen(int thread, const Operation& operation, const char*& wrong) {
    Thread& self = threads[thread];
    switch (operation.kind) {
      case Kind::kLoad:
        return load(self, operation);
      case Kind::kStore:
        self.buffer[self.stores++] = {static_cast<std::uint8_t>(operation.variable),
                                      operation.order == std::memory_order_seq_cst,
                                      {operation.value, releases(operation.order) ? self.clock : Clock{}}};
        return 0;
      case Kind::kReset:
        words[operation.variable] = {};
        return 0;
      case Kind::kReadData:
        return read_data(data[operation.variable], thread, wrong);
      case Kind::kWriteData:
        write_data(data[operation.variable], thread, operation.value, wrong);
        return 0;
      case Kind::kFail:
        wrong = operation.wrong;
        return 0;
      default:
        return read_and_write(self, operation, wrong);
    }
  }

  void forget_clocks() {
    for (Word& word : words) word.released = {};
    for (Data& one : data) one.written = one.read = {};
    for (Thread& thread : threads) {
      thread.clock = {};
      for (Store& store : thread.buffer) store.word.released = {};
    }
  }
  /// All threads that go on know this: it makes no difference which word tells it, too.
  void all_know(const Clock& known) {
    for (Word& word : words) word.released.join(known);
    for (Data& one : data) one.written.join(known), one.read.join(known);
    for (Thread& thread : threads)
      for (int i = 0; i < thread.stores; ++i) thread.buffer[i].word.released.join(known);
  }
  /// Not 0.
  std::uint64_t hash() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(this);
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < sizeof *this; i += sizeof hash) {
      std::uint64_t part = 0;
      std::memcpy(&part, bytes + i, std::min(sizeof part, sizeof *this - i));
      hash = (hash ^ part) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
    return hash == 0 ? 1 : hash;
  }

 private:
  static bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  static bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  static bool is_of_word(Kind kind) {
    return kind != Kind::kReset && kind != Kind::kReadData && kind != Kind::kWriteData &&
           kind != Kind::kChoose && kind != Kind::kFail;
  }

  static bool must_let_stores_out(const Thread& self, const Operation& operation) {
    if (operation.kind != Kind::kLoad) return self.stores > 0;
    return operation.order == std::memory_order_seq_cst &&
           std::any_of(self.buffer, self.buffer + self.stores, [](const Store& s) { return s.is_ordered; });
  }
  std::uint8_t load(Thread& self, const Operation& operation) const {
    for (int i = self.stores; i-- > 0;)
      if (self.buffer[i].variable == operation.variable) return self.buffer[i].word.value;
    const Word& word = words[operation.variable];
    if (acquires(operation.order)) self.clock.join(word.released);
    return word.value;
  }
  std::uint8_t read_and_write(Thread& self, const Operation& operation, const char*& wrong) {
    Word& word = words[operation.variable];
    const std::uint8_t before = word.value;
    if (acquires(operation.order)) self.clock.join(word.released);
    if (operation.kind == Kind::kWait) return 0;
    if (operation.kind == Kind::kSignal && before != 0) wrong = "a completion is signalled twice";
    if (operation.kind == Kind::kCompare && before != operation.expected) return before;
    word.value =
        static_cast<std::uint8_t>(operation.kind == Kind::kAdd ? before + operation.value : operation.value);
    if (releases(operation.order)) word.released.join(self.clock);  // otherwise what was released stays so
    return before;
  }
  std::uint8_t read_data(Data& one, int thread, const char*& wrong) {
    Clock& clock = threads[thread].clock;
    if (!clock.knows(one.written)) wrong = "data is read, and writing it did not happen before";
    one.read.made[thread] = ++clock.made[thread];
    return one.value;
  }
  void write_data(Data& one, int thread, std::uint8_t value, const char*& wrong) {
    Clock& clock = threads[thread].clock;
    if (!clock.knows(one.written)) wrong = "data is written, and writing it did not happen before";
    if (!clock.knows(one.read)) wrong = "data is written, and reading it did not happen before";
    one.value = value;
    one.written = {};
    one.written.made[thread] = ++clock.made[thread];
  }
};
static_assert(alignof(State) == 1);

}  // namespace clump::coll::model
