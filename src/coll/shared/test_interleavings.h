// For unit tests: runs a small concurrent program in every order in which its atomic operations can happen.
//
// The program is ordinary code over ModelAtomic, ModelCompletion and ModelData. A thread runs its parts one
// after the other, and keeps nothing from one to the next. Within a part, what a thread does next follows
// from the results of its operations so far. So the state of a thread is a node of a tree (a child for each
// result), and the code runs only when a node is new: from the beginning of the part, until the operation
// that has no result yet. The states of memory and of all threads make a graph, and explore() visits it.
//
// Beside the interleaving of operations, two things of the C++ memory model are there:
// - A store waits in a buffer of its thread, until the thread's next operation that is seq_cst or reads and
//   writes, or as long as it likes. So it matters whether a store, and the load after it, are seq_cst.
// - Clocks tell what happens before what, by release and acquire. Two accesses to a ModelData, one of which
//   writes, must be ordered. That is found in whichever order they are made.
// A load never returns a value that memory has no more, and nothing is delayed after what reads and writes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

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
    Word word;
  };
  struct Data {
    std::uint8_t value;
    Clock written, read;
  };
  struct Thread {
    std::uint8_t node[3];
    Clock clock;
    std::uint8_t stores;
    Store buffer[2];
  };
  Word words[kMostVariables];
  Data data[kMostData];
  Thread threads[kMostThreads];
};
static_assert(alignof(State) == 1);

class Explorer {
 public:
  /// What a thread does as its part-th part.
  using Program = std::function<void(int thread, int part)>;

  Explorer() { here = this; }
  ~Explorer() { here = nullptr; }
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// Runs all orders. Returns what is wrong, with the operations that lead there; empty: nothing.
  std::string explore(int threads, int parts, Program program) {
    threads_ = threads;
    parts_ = parts;
    program_ = std::move(program);
    State state = initial_;
    for (int thread = 0; thread < threads; ++thread) set_node(state.threads[thread], first_node(thread, 0));
    visit(state);
    return failure_;
  }
  std::size_t states() const { return seen_.size(); }
  std::size_t nodes() const { return nodes_.size(); }

  // Of the program:
  static Explorer* here;
  int add_variable(std::uint8_t value) {
    initial_.words[names_.size()].value = value;
    names_.push_back("?");
    return static_cast<int>(names_.size()) - 1;
  }
  int add_data() { return data_++; }
  void name(int variable, std::string name) { names_[variable] = std::move(name); }
  /// The variable has this value when all threads have ended.
  void expect_at_end(int variable, std::uint8_t value) { at_end_.emplace_back(variable, value); }
  /// The result of the next operation.
  std::uint8_t perform(const Operation& operation) {
    if (position_ < results_.size()) return results_[position_++];
    next_ = operation;
    throw Suspended();
  }
  /// The program is at a place from which on it depends on no result of an operation before, but for those
  /// that `place` tells: histories that lead there are one.
  void forget_before(int place) {
    if (position_ == results_.size()) place_ = place;
  }
  void check(bool right, const char* what) {
    if (!right) perform({.kind = Kind::kFail, .wrong = what});
  }
  /// Pointers are values, too: 0 is null.
  std::uint8_t value_of(void* pointer) {
    if (pointer == nullptr) return 0;
    const auto found = std::find(objects_.begin(), objects_.end(), pointer);
    if (found != objects_.end()) return static_cast<std::uint8_t>(found - objects_.begin() + 1);
    objects_.push_back(pointer);
    return static_cast<std::uint8_t>(objects_.size());
  }
  void* pointer_of(std::uint8_t value) const { return value == 0 ? nullptr : objects_[value - 1]; }

 private:
  struct Suspended {};
  struct Node {
    int thread, part;
    std::vector<std::uint8_t> results;
    Operation next;
    std::map<std::uint8_t, int> children;
  };

  // The states of one thread.

  static int node_of(const State::Thread& thread) {
    return thread.node[0] | thread.node[1] << 8 | thread.node[2] << 16;
  }
  static void set_node(State::Thread& thread, int node) {
    for (int i = 0; i < 3; ++i) thread.node[i] = static_cast<std::uint8_t>(node >> 8 * i);
  }
  int make_node(int thread, int part, std::vector<std::uint8_t> results) {
    results_ = results;
    position_ = 0;
    next_ = {};
    place_ = kNowhere;
    try {
      program_(thread, part);
    } catch (const Suspended&) {
    }
    const int made = static_cast<int>(nodes_.size());
    if (place_ != kNowhere) {
      const auto [found, is_new] = places_.try_emplace({thread, part, place_}, made);
      if (!is_new) return found->second;
    }
    nodes_.push_back({thread, part, std::move(results), next_, {}});
    return made;
  }
  /// The end of one part is the beginning of the next.
  int first_node(int thread, int part) {
    const auto [found, is_new] = first_.try_emplace({thread, part}, 0);
    if (is_new) found->second = part == parts_ ? kEnded : make_node(thread, part, {});
    return found->second;
  }
  int child(int parent, std::uint8_t result) {
    if (const auto found = nodes_[parent].children.find(result); found != nodes_[parent].children.end())
      return found->second;
    std::vector<std::uint8_t> results = nodes_[parent].results;
    results.push_back(result);
    int made = make_node(nodes_[parent].thread, nodes_[parent].part, std::move(results));
    if (nodes_[made].next.kind == Kind::kEnd)
      made = first_node(nodes_[parent].thread, nodes_[parent].part + 1);
    return nodes_[parent].children[result] = made;
  }

  // One operation.

  static bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  static bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  /// No other thread can tell when it happens.
  static bool is_private(Kind kind) {
    return kind == Kind::kChoose || kind == Kind::kReadData || kind == Kind::kWriteData;
  }
  static bool can_happen(const State& state, const State::Thread& self, const Operation& operation) {
    if (is_private(operation.kind) || operation.kind == Kind::kFail) return true;
    if (operation.kind == Kind::kStore) return self.stores < std::size(self.buffer);
    const bool weak = operation.kind == Kind::kLoad && operation.order != std::memory_order_seq_cst;
    if (self.stores > 0 && !weak) return false;
    return operation.kind != Kind::kWait || state.words[operation.variable].value != 0;
  }
  static void let_out(State& state, State::Thread& self) {
    state.words[self.buffer[0].variable] = self.buffer[0].word;
    self.buffer[0] = self.buffer[1];
    self.buffer[1] = {};
    --self.stores;
  }
  std::uint8_t happen(State& state, int thread, const Operation& operation) {
    State::Thread& self = state.threads[thread];
    State::Word& word = state.words[operation.variable];
    const State::Word before = word;
    switch (operation.kind) {
      case Kind::kLoad:
        return load(state, self, operation);
      case Kind::kStore:
        self.buffer[self.stores++] = {
            static_cast<std::uint8_t>(operation.variable),
            {operation.value, releases(operation.order) ? self.clock : Clock{}}};
        return 0;
      case Kind::kReset:
        word = {};
        return 0;
      case Kind::kReadData:
        return read_data(state.data[operation.variable], self, thread);
      case Kind::kWriteData:
        write_data(state.data[operation.variable], self, thread, operation.value);
        return 0;
      case Kind::kFail:
        wrong_ = operation.wrong;
        return 0;
      default:
        break;
    }
    if (acquires(operation.order)) self.clock.join(before.released);
    if (operation.kind == Kind::kWait) return 0;
    if (operation.kind == Kind::kSignal && before.value != 0) wrong_ = "a completion is signalled twice";
    if (operation.kind == Kind::kCompare && before.value != operation.expected) return before.value;
    word.value = operation.kind == Kind::kAdd ? static_cast<std::uint8_t>(before.value + operation.value)
                                              : operation.value;
    if (releases(operation.order)) word.released.join(self.clock);  // otherwise what was released stays so
    return before.value;
  }
  static std::uint8_t load(const State& state, State::Thread& self, const Operation& operation) {
    for (int i = self.stores; i-- > 0;)
      if (self.buffer[i].variable == operation.variable) return self.buffer[i].word.value;
    const State::Word& word = state.words[operation.variable];
    if (acquires(operation.order)) self.clock.join(word.released);
    return word.value;
  }
  std::uint8_t read_data(State::Data& data, State::Thread& self, int thread) {
    if (!self.clock.knows(data.written)) wrong_ = "data is read, and writing it did not happen before";
    data.read.made[thread] = ++self.clock.made[thread];
    return data.value;
  }
  void write_data(State::Data& data, State::Thread& self, int thread, std::uint8_t value) {
    if (!self.clock.knows(data.written)) wrong_ = "data is written, and writing it did not happen before";
    if (!self.clock.knows(data.read)) wrong_ = "data is written, and reading it did not happen before";
    data.value = value;
    data.written = {};
    data.written.made[thread] = ++self.clock.made[thread];
  }

  // The graph.

  static std::uint64_t fingerprint(const State& state) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&state);
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < sizeof state; i += sizeof hash) {
      std::uint64_t part = 0;
      std::memcpy(&part, bytes + i, std::min(sizeof part, sizeof state - i));
      hash = (hash ^ part) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
    return hash;
  }

  /// False: something is wrong, and failure_ says what.
  bool visit(const State& state) {
    if (!seen_.insert(fingerprint(state)).second) return true;
    if (seen_.size() > 4000000) return fail("too many");
    bool ended = true, moved = false;
    for (int thread = 0; thread < threads_; ++thread) {
      const int node = node_of(state.threads[thread]);
      if (node != kEnded && is_private(nodes_[node].next.kind)) return step(state, thread);
    }
    for (int thread = 0; thread < threads_; ++thread) {
      const State::Thread& self = state.threads[thread];
      if (self.stores > 0) {
        moved = true;
        State after = state;
        let_out(after, after.threads[thread]);
        if (!go_to(after, {thread, {Kind::kStore, self.buffer[0].variable, self.buffer[0].word.value}, true}))
          return false;
      }
      const int node = node_of(self);
      if (node == kEnded) continue;
      ended = false;
      if (!can_happen(state, self, nodes_[node].next)) continue;
      moved = true;
      if (!step(state, thread)) return false;
    }
    if (ended && !moved) return check_end(state);
    return moved || fail("deadlock");
  }
  bool step(const State& state, int thread) {
    const int node = node_of(state.threads[thread]);
    const Operation operation = nodes_[node].next;
    for (std::uint8_t way = 0; way < (operation.kind == Kind::kChoose ? 2 : 1); ++way) {
      State after = state;
      const std::uint8_t result = operation.kind == Kind::kChoose ? way : happen(after, thread, operation);
      const Step step{thread, operation, false, result};
      if (!wrong_.empty()) {
        path_.push_back(step);
        return fail(wrong_);
      }
      set_node(after.threads[thread], child(node, result));
      if (!go_to(after, step)) return false;
    }
    return true;
  }
  struct Step {
    int thread;
    Operation operation;
    bool leaves_buffer = false;
    std::uint8_t result = 0;
  };
  bool go_to(const State& state, const Step& step) {
    path_.push_back(step);
    const bool right = visit(state);
    path_.pop_back();
    return right;
  }
  bool check_end(const State& state) {
    for (const auto& [variable, value] : at_end_)
      if (state.words[variable].value != value)
        return fail(names_[variable] + " is " + std::to_string(state.words[variable].value) + " at the end");
    return true;
  }

  bool fail(const std::string& what) {
    failure_ = what + ", after"; if (what=="too many") return false;
    for (const Step& step : path_) failure_ += "\n  " + describe(step);
    return false;
  }
  std::string describe(const Step& step) const {
    static constexpr const char* kNames[] = {"load",  "store",  "exchange",  "add",        "compare and exchange",
                                             "wait",  "reset",  "signal",    "read data",  "write data",
                                             "choose", "end",   "find wrong"};
    const Operation& operation = step.operation;
    const bool of_data = operation.kind == Kind::kReadData || operation.kind == Kind::kWriteData;
    const std::string variable =
        of_data ? std::to_string(operation.variable)
                : names_.empty() || is_private(operation.kind) ? std::string() : names_[operation.variable];
    std::string text = "thread " + std::to_string(step.thread) + ": " + (step.leaves_buffer ? "memory gets " : "") +
                       kNames[static_cast<int>(operation.kind)] + " " + variable;
    if (operation.kind != Kind::kLoad && operation.kind != Kind::kWait)
      text += " " + std::to_string(operation.value);
    return text + " -> " + std::to_string(step.result);
  }

  static constexpr int kEnded = (1 << 24) - 1;
  int threads_ = 0, parts_ = 0, data_ = 0;
  Program program_;
  State initial_{};
  std::vector<std::string> names_;
  std::vector<std::pair<int, std::uint8_t>> at_end_;
  std::vector<void*> objects_;
  // Of the part that is run to find what comes next.
  std::vector<std::uint8_t> results_;
  std::size_t position_ = 0;
  Operation next_;
  static constexpr int kNowhere = -1;
  int place_ = kNowhere;
  // Of the exploration.
  std::deque<Node> nodes_;
  std::map<std::pair<int, int>, int> first_;  ///< by thread and part
  std::map<std::array<int, 3>, int> places_;  ///< by thread, part and place
  std::unordered_set<std::uint64_t> seen_;
  std::vector<Step> path_;
  std::string wrong_, failure_;
};
inline Explorer* Explorer::here = nullptr;

/// std::atomic for the program: of small numbers, or of pointers.
template <typename T>
class ModelAtomic {
 public:
  explicit ModelAtomic(T value) : variable_(Explorer::here->add_variable(to_value(value))) {}
  int variable() const { return variable_; }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    return from_value(perform(Kind::kLoad, 0, order));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    perform(Kind::kStore, to_value(value), order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return from_value(perform(Kind::kExchange, to_value(value), order));
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {
    return from_value(perform(Kind::kAdd, to_value(value), order));
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) { return fetch_add(-value, order); }
  bool compare_exchange_strong(T& expected, T value,
                               std::memory_order order = std::memory_order_seq_cst) {
    const T before = from_value(perform(Kind::kCompare, to_value(value), order, to_value(expected)));
    return before == std::exchange(expected, before);
  }

 private:
  std::uint8_t perform(Kind kind, std::uint8_t value, std::memory_order order,
                       std::uint8_t expected = 0) const {
    return Explorer::here->perform({kind, variable_, value, expected, order});
  }
  static std::uint8_t to_value(T value) {
    if constexpr (std::is_pointer_v<T>)
      return Explorer::here->value_of(value);
    else
      return static_cast<std::uint8_t>(value);
  }
  static T from_value(std::uint8_t value) {
    if constexpr (std::is_pointer_v<T>)
      return static_cast<T>(Explorer::here->pointer_of(value));
    else if constexpr (std::is_signed_v<T>)
      return static_cast<std::int8_t>(value);
    else
      return value;
  }
  const int variable_;
};

/// fiber::Completion for the program.
class ModelCompletion {
 public:
  int variable() const { return variable_; }
  void wait() { perform(Kind::kWait, std::memory_order_acquire); }
  void reset() { perform(Kind::kReset, std::memory_order_relaxed); }
  void signal() { perform(Kind::kSignal, std::memory_order_acq_rel); }

 private:
  void perform(Kind kind, std::memory_order order) {
    Explorer::here->perform({kind, variable_, kind == Kind::kSignal, 0, order});
  }
  const int variable_ = Explorer::here->add_variable(0);
};

/// What is not atomic.
class ModelData {
 public:
  std::uint8_t read() const { return Explorer::here->perform({Kind::kReadData, data_}); }
  void write(std::uint8_t value) { Explorer::here->perform({Kind::kWriteData, data_, value}); }

 private:
  const int data_ = Explorer::here->add_data();
};

/// Both ways are explored.
inline bool choose() { return Explorer::here->perform({Kind::kChoose}) != 0; }

}  // namespace clump::coll::model
