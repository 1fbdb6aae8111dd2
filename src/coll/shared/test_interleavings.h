// For unit tests: runs a small concurrent program in every order in which its atomic operations can happen.
//
// The program is ordinary code over ModelAtomic, ModelCompletion and ModelData. A thread runs its parts one
// after the other, and keeps nothing from one to the next. Within a part, what a thread does next follows
// from what it has learnt of the results of its operations so far. So the state of a thread is a node of a
// tree, and the code runs only when a node is new: from the beginning of the part, until the operation that
// has no result yet. The states of memory and of all threads make a graph, and explore() visits it.
//
// What an operation does to memory, and which parts of the C++ memory model that has: test_memory.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coll/shared/test_memory.h"

namespace clump::coll::model {

/// A set of hashes, which are no zero.
class Fingerprints {
 public:
  std::size_t size() const { return size_; }
  /// False: it is there.
  bool insert(std::uint64_t hash) {
    if (2 * size_ >= places_.size()) grow();
    return put(places_, hash) && ++size_ != 0;
  }

 private:
  static bool put(std::vector<std::uint64_t>& places, std::uint64_t hash) {
    for (std::size_t i = hash;; ++i) {
      std::uint64_t& place = places[i & (places.size() - 1)];
      if (place == hash) return false;
      if (place == 0) return place = hash, true;
    }
  }
  void grow() {
    std::vector<std::uint64_t> more(2 * places_.size());
    for (const std::uint64_t hash : places_)
      if (hash != 0) put(more, hash);
    places_ = std::move(more);
  }
  std::vector<std::uint64_t> places_ = std::vector<std::uint64_t>(1 << 16);
  std::size_t size_ = 0;
};

class Explorer {
 public:
  /// What a thread does as its part-th part.
  using Program = std::function<void(int thread, int part)>;

  Explorer() { here = this; }
  ~Explorer() { here = nullptr; }
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// Runs all orders, with clocks or without, which is many times faster. Returns what is wrong, with the
  /// operations that lead there; empty: nothing.
  std::string explore(int threads, int parts, bool with_clocks, Program program) {
    threads_ = threads;
    parts_ = parts;
    with_clocks_ = with_clocks;
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
    if (position_ < results_.size()) {
      learnt_before_last_ = learnt_.size();
      return results_[position_++];
    }
    next_ = operation;
    throw Suspended();
  }
  /// A place in the part: any numbers.
  using Place = std::vector<int>;
  /// The program is at a place from which on it depends on no result of an operation before, but for those
  /// that `place` tells: histories that lead there are one.
  void forget_before(Place place) {
    place_ = std::move(place);
    place_begins_ = position_;
    place_learnt_ = learnt_.size();
  }
  const Place& place() const { return place_; }
  /// The last such place, and what the program has learnt since.
  Place here_and_now() const {
    Place place = place_;
    place.push_back(kSince);
    place.insert(place.end(), learnt_.begin() + static_cast<std::ptrdiff_t>(place_learnt_), learnt_.end());
    return place;
  }
  /// The program knows this of the result of an operation.
  template <typename T>
  T learn(T value) {
    learnt_.push_back(static_cast<int>(value));
    return value;
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
  /// `parent`: -1 at the beginning of a part.
  int make_node(int thread, int part, int parent, std::vector<std::uint8_t> results) {
    results_ = results;
    position_ = learnt_before_last_ = 0;
    learnt_.clear();
    next_ = {};
    forget_before({kBeginning});
    try {
      program_(thread, part);
    } catch (const Suspended&) {
    }
    Place key{thread, part};
    if (position_ == place_begins_) {
      key.insert(key.end(), place_.begin(), place_.end());
    } else {
      key.insert(key.end(), {parent, kSince});
      key.insert(key.end(), learnt_.begin() + static_cast<std::ptrdiff_t>(learnt_before_last_),
                 learnt_.end());
    }
    const auto [found, is_new] = places_.try_emplace(std::move(key), static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({thread, part, std::move(results), next_, {}});
    return found->second;
  }
  /// The end of one part is the beginning of the next.
  int first_node(int thread, int part) {
    const auto [found, is_new] = first_.try_emplace({thread, part}, 0);
    if (is_new) found->second = part == parts_ ? kEnded : make_node(thread, part, -1, {});
    return found->second;
  }
  int child(int parent, std::uint8_t result) {
    if (const auto found = nodes_[parent].children.find(result); found != nodes_[parent].children.end())
      return found->second;
    std::vector<std::uint8_t> results = nodes_[parent].results;
    results.push_back(result);
    int made = make_node(nodes_[parent].thread, nodes_[parent].part, parent, std::move(results));
    if (nodes_[made].next.kind == Kind::kEnd)
      made = first_node(nodes_[parent].thread, nodes_[parent].part + 1);
    return nodes_[parent].children[result] = made;
  }

  // The graph.

  /// No other thread can tell when it happens. (A signal would before a reset, as a second signal before the
  /// wait. Of data, clocks tell.)
  bool is_private(Kind kind) const {
    const bool of_data = kind == Kind::kReadData || kind == Kind::kWriteData;
    return kind == Kind::kChoose || kind == Kind::kReset || (of_data && with_clocks_);
  }
  void normalise(State& state) const {
    if (!with_clocks_) return state.forget_clocks();
    Clock known;
    known.made.fill(0xff);
    for (int i = 0; i < threads_; ++i) {
      Clock& clock = state.threads[i].clock;
      if (node_at(state, i) == nullptr)
        clock = {};
      else
        for (int k = 0; k < kMostThreads; ++k) known.made[k] = std::min(known.made[k], clock.made[k]);
    }
    state.all_know(known);
  }

  /// False: something is wrong, and failure_ says what.
  bool visit(State state) {
    normalise(state);
    if (!seen_.insert(state.hash())) return true;
    for (int thread = 0; thread < threads_; ++thread)
      if (const Node* const node = node_at(state, thread); node != nullptr && is_private(node->next.kind))
        return step(state, thread);
    bool ended = true, moved = false;
    for (int thread = 0; thread < threads_; ++thread) {
      const Node* const node = node_at(state, thread);
      const State::Thread& self = state.threads[thread];
      ended = ended && node == nullptr;
      if (self.stores > 0) {
        moved = true;
        if (!let_store_out(state, thread)) return false;
      }
      if (node == nullptr || !state.can_happen(self, node->next)) continue;
      moved = true;
      if (!step(state, thread)) return false;
    }
    if (moved) return true;
    return ended ? check_end(state) : fail("deadlock");
  }
  /// Null: it has ended.
  const Node* node_at(const State& state, int thread) const {
    const int node = node_of(state.threads[thread]);
    return node == kEnded ? nullptr : &nodes_[node];
  }
  bool let_store_out(State state, int thread) {
    State::Thread& self = state.threads[thread];
    const Operation store{Kind::kStore, self.buffer[0].variable, self.buffer[0].word.value};
    state.let_store_out(self);
    return go_to(state, {thread, store, true});
  }
  bool step(const State& state, int thread) {
    const int node = node_of(state.threads[thread]);
    const Operation operation = nodes_[node].next;
    for (std::uint8_t way = 0; way < (operation.kind == Kind::kChoose ? 2 : 1); ++way) {
      State after = state;
      const char* wrong = nullptr;
      const std::uint8_t result =
          operation.kind == Kind::kChoose ? way : after.happen(thread, operation, wrong);
      const Step step{thread, operation, false, result};
      if (wrong != nullptr) {
        path_.push_back(step);
        return fail(wrong);
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
    failure_ = what + ", after";
    for (const Step& step : path_) failure_ += "\n  " + describe(step);
    return false;
  }
  std::string describe(const Step& step) const {
    static constexpr const char* kNames[] = {
        "load",   "store", "exchange",  "add",       "compare and exchange",
        "wait",   "reset", "signal",    "read data", "write data",
        "choose", "end",   "find wrong"};
    const Operation& operation = step.operation;
    const bool of_data = operation.kind == Kind::kReadData || operation.kind == Kind::kWriteData;
    const bool of_word = operation.kind < Kind::kReadData;
    const std::string variable = of_data   ? std::to_string(operation.variable)
                                 : of_word ? names_[operation.variable]
                                           : std::string(operation.wrong == nullptr ? "" : operation.wrong);
    std::string text = "thread " + std::to_string(step.thread) + ": " +
                       (step.leaves_buffer ? "memory gets " : "") + kNames[static_cast<int>(operation.kind)] +
                       " " + variable;
    if (operation.kind != Kind::kLoad && operation.kind != Kind::kWait)
      text += " " + std::to_string(operation.value);
    return text + " -> " + std::to_string(step.result);
  }

  static constexpr int kEnded = (1 << 24) - 1;
  int threads_ = 0, parts_ = 0, data_ = 0;
  bool with_clocks_ = true;
  Program program_;
  State initial_{};
  std::vector<std::string> names_;
  std::vector<std::pair<int, std::uint8_t>> at_end_;
  std::vector<void*> objects_;
  // Of the part that is run to find what comes next.
  std::vector<std::uint8_t> results_;
  std::size_t position_ = 0;
  Operation next_;
  static constexpr int kBeginning = -1, kSince = -2;
  Place place_;
  std::size_t place_begins_ = 0;        ///< after so many operations
  std::vector<int> learnt_;             ///< in the whole part
  std::size_t place_learnt_ = 0;        ///< so much of it before the place
  std::size_t learnt_before_last_ = 0;  ///< and before the last result
  // Of the exploration.
  std::deque<Node> nodes_;
  std::map<std::pair<int, int>, int> first_;  ///< by thread and part
  std::map<Place, int> places_;               ///< by thread, part, and how the program gets there
  Fingerprints seen_;
  std::vector<Step> path_;
  std::string failure_;
};
inline Explorer* Explorer::here = nullptr;

/// What was in an atomic. The program learns only what it asks.
template <typename T>
class Seen {
 public:
  explicit Seen(T value) : value_(value) {}
  operator T() const {
    if constexpr (std::is_pointer_v<T>)
      Explorer::here->learn(Explorer::here->value_of(value_));
    else
      Explorer::here->learn(value_);
    return value_;
  }
  template <typename U>
  bool operator==(U other) const {
    return Explorer::here->learn(value_ == static_cast<T>(other));
  }
  template <typename U>
  bool operator!=(U other) const {
    return Explorer::here->learn(value_ != static_cast<T>(other));
  }
  template <typename U>
  bool operator<(U other) const {
    return Explorer::here->learn(value_ < static_cast<T>(other));
  }
  template <typename U>
  bool operator>(U other) const {
    return Explorer::here->learn(value_ > static_cast<T>(other));
  }
  template <typename U>
  bool operator>=(U other) const {
    return Explorer::here->learn(value_ >= static_cast<T>(other));
  }

 private:
  const T value_;
};

/// std::atomic for the program: of small numbers, or of pointers.
template <typename T>
class ModelAtomic {
 public:
  explicit ModelAtomic(T value) : variable_(Explorer::here->add_variable(to_value(value))) {}
  int variable() const { return variable_; }

  Seen<T> load(std::memory_order order = std::memory_order_seq_cst) const {
    return Seen<T>(from_value(perform(Kind::kLoad, 0, order)));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    perform(Kind::kStore, to_value(value), order);
  }
  Seen<T> exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return Seen<T>(from_value(perform(Kind::kExchange, to_value(value), order)));
  }
  void fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {
    perform(Kind::kAdd, to_value(value), order);
  }
  void fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) { fetch_add(-value, order); }
  /// If it fails, the program does not look at what was there.
  bool compare_exchange_strong(T expected, T value, std::memory_order order = std::memory_order_seq_cst) {
    return Seen<T>(from_value(perform(Kind::kCompare, to_value(value), order, to_value(expected)))) ==
           expected;
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
  std::uint8_t read() const {
    return Explorer::here->learn(Explorer::here->perform({Kind::kReadData, data_}));
  }
  void write(std::uint8_t value) { Explorer::here->perform({Kind::kWriteData, data_, value}); }

 private:
  const int data_ = Explorer::here->add_data();
};

/// Both ways are explored.
inline bool choose() { return Explorer::here->learn(Explorer::here->perform({Kind::kChoose})) != 0; }

}  // namespace clump::coll::model
