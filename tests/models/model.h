// Small state machines of protocols between threads, and a check of all that they can do: whether, whatever
// happens, what is waited for can still come. A thread for which that is no longer so has lost a wake-up.
//
//   Model model;
//   const Location word = model.location("word");
//   model.thread("waker").store(word, 1, seq_cst).futex_wake(word).end();
//   ...
//   const Outcome outcome = model.explore(Memory::kReleaseAcquire, [&](const State& s) { return s.ended(0);
//   });
//
// Threads are lists of steps; a step is one access to memory, one fence or one system call. README.md says
// what the two memories allow, and what they leave out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace clump::models {

enum class Memory : std::uint8_t {
  kSequential,     ///< every load reads the newest value
  kReleaseAcquire  ///< a load reads any value that C++ allows where loads and stores may be late
};

struct Location {
  int index = 0;
};
/// A local variable of a thread, by number.
struct Register {
  int index = 0;
};
inline constexpr int kRegisters = 6;
using Registers = std::array<std::int8_t, kRegisters>;

/// What a step writes or compares with: a number or a register.
class Operand {
 public:
  Operand(int number) : number_(number) {}                             // NOLINT(*-explicit-*)
  Operand(Register from) : number_(from.index), is_register_(true) {}  // NOLINT(*-explicit-*)
  int in(const Registers& registers) const {
    return is_register_ ? registers[static_cast<std::size_t>(number_)] : number_;
  }

 private:
  int number_;
  bool is_register_ = false;
};

struct Step {
  enum class Kind : std::uint8_t {
    kLoad,
    kStore,
    kExchange,
    kAdd,
    kCompareExchange,
    kFence,
    kFenceOf,
    kFutexWait,
    kFutexWake,
    kPause,
    kJump,
    kLet,
    kCheck,
    kEnd
  };
  Kind kind = Kind::kEnd;
  Location at = {};
  Register into = {};
  std::vector<Operand> operands = {};
  std::memory_order order = std::memory_order_relaxed;
  int number = 0;  ///< kFutexWake: how many; kFutexWait: whether time may run out; kFenceOf: the thread
  std::string label = {};
  std::function<bool(const Registers&)> condition = {};
  std::function<void(Registers&)> action = {};
};

/// What one thread does. Ends of programs and of loops have to be written: end(), jump().
class Program {
 public:
  Program& load(Register into, Location at, std::memory_order order);
  Program& store(Location at, Operand value, std::memory_order order);
  /// `into`: the value before.
  Program& exchange(Register into, Location at, Operand value, std::memory_order order);
  Program& add(Register into, Location at, Operand value, std::memory_order order);
  /// `into`: 1 if it was `expected` and is `value`; 0 otherwise.
  Program& compare_exchange(Register into, Location at, Operand expected, Operand value,
                            std::memory_order order);
  /// A seq_cst fence.
  Program& fence();
  /// membarrier(): a fence of each thread of this one's process, one after another.
  Program& membarrier();
  /// Sleeps if the value is `expected`. `into`: 0; 1 if its time has run out, which it may only if `timed`.
  Program& futex_wait(Register into, Location at, Operand expected, bool timed = false);
  /// Wakes the threads that have slept longest.
  Program& futex_wake(Location at, int most);
  /// A step that does nothing, for other threads to overtake.
  Program& pause();

  // Belong to the step before.
  Program& label(const std::string& name);
  Program& jump(const std::string& label);
  Program& jump_if(std::function<bool(const Registers&)> condition, const std::string& label);
  Program& let(std::function<void(Registers&)> action);
  Program& check(std::function<bool(const Registers&)> condition, const std::string& text);
  Program& end();

 private:
  friend class Model;
  friend class Explorer;
  Program& add_step(Step step);
  std::string name_;
  int process_ = 0;
  std::vector<Step> steps_;
  std::map<std::string, int> labels_;
};

/// A state of the model, as far as a goal may ask for it.
class State {
 public:
  virtual ~State() = default;
  virtual bool ended(int thread) const = 0;
  /// The newest value.
  virtual int value(Location at) const = 0;
  virtual int value(int thread, Register of) const = 0;
};

struct Outcome {
  bool holds = false;
  std::size_t states = 0;
  std::string how = {};  ///< if it does not hold: the steps to a state that is wrong
};

class Model {
 public:
  Location location(const std::string& name, int value = 0);
  /// The threads are numbered from 0. Threads of another process have another number there.
  Program& thread(const std::string& name, int process = 0);
  /// Holds if `goal` can be reached from each state that can be reached, and no check() fails. Ends the test
  /// program if there are more than `most` states.
  Outcome explore(Memory memory, const std::function<bool(const State&)>& goal,
                  std::size_t most = 2'000'000) const;

 private:
  friend class Explorer;
  std::vector<std::string> locations_;
  std::vector<int> values_;
  std::deque<Program> programs_;  // references to them are given out
};

}  // namespace clump::models
