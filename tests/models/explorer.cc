// The check of a model: breadth first through all states, each state once. README.md has the rules by which
// loads and stores are late.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model.h"

namespace clump::models {
namespace {

constexpr int kThreads = 4, kLocations = 8;
/// A thread reads one of the so many newest values at most. Without a limit, a thread that sleeps while
/// others write in a loop would have more states than can be counted.
constexpr int kHistory = 4;

/// For each location the oldest value that may still be read: its place in the order of modification.
using View = std::array<std::uint8_t, kLocations>;

void join(View& into, const View& other) {
  for (int i = 0; i < kLocations; ++i) into[i] = std::max(into[i], other[i]);
}

struct Written {
  std::int8_t value = 0;
  bool follows = false;  ///< an atomic operation has read the value before it: nothing comes between
  View view{};           ///< what a thread sees that acquires it
};

struct Thread {
  std::uint8_t at = 0;  ///< its next step
  std::uint8_t fences = 0;
  bool sleeps = false, ended = false;
  Registers registers{};
  View sees{};      ///< what it may read
  View acquires{};  ///< what it may read after a fence
  View releases{};  ///< what a relaxed store hands on: what it saw at its last fence
};

struct World {
  std::array<std::array<Written, kHistory + 2>, kLocations> memory{};
  std::array<std::uint8_t, kLocations> written{};  ///< how many there are of each
  std::array<Thread, kThreads> threads{};
  View fences{};                               ///< what all seq_cst fences and accesses so far have seen
  std::array<std::uint8_t, kThreads> queue{};  ///< threads that sleep, 1 + number, in order
};

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

struct Hash {
  std::size_t operator()(const std::array<std::uint64_t, 2>& key) const { return key[0]; }
};

std::array<std::uint64_t, 2> hash_of(std::string_view bytes) {
  std::array<std::uint64_t, 2> hash{0xcbf29ce484222325u, 0x9e3779b97f4a7c15u};
  for (const char byte : bytes) {
    hash[0] = (hash[0] ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    hash[1] = (hash[1] + static_cast<unsigned char>(byte) + 1) * 0xff51afd7ed558ccdu;
    hash[1] ^= hash[1] >> 29;
  }
  return hash;
}

}  // namespace

class Explorer {
 public:
  Explorer(const Model& model, Memory memory, std::size_t most)
      : model_(model),
        memory_(memory),
        most_(most),
        locations_(static_cast<int>(model.values_.size())),
        threads_(static_cast<int>(model.programs_.size())) {
    if (locations_ > kLocations || threads_ > kThreads) fail("the model is too large");
    for (int t = 0; t < threads_; ++t)
      for (const Step& step : program(t).steps_)
        if (step.kind <= Step::Kind::kCompareExchange || step.kind == Step::Kind::kFutexWait)
          uses_[t][step.at.index] = true;
  }

  Outcome run(const std::function<bool(const State&)>& goal) {
    World first;
    for (int i = 0; i < locations_; ++i) {
      first.memory[i][0].value = static_cast<std::int8_t>(model_.values_[i]);
      first.written[i] = 1;
    }
    for (int t = 0; t < threads_; ++t) go_on(first, t);
    add(first, {0, 0, 0, 0});
    for (now_ = 0; now_ < found_.size(); ++now_) {
      const World here = std::move(frontier_.front());
      frontier_.pop_front();
      found_[now_].is_goal = goal(Seen(*this, here));
      if (!wrong_.empty()) break;
      for (int t = 0; t < threads_; ++t) step(here, t);
    }
    Outcome outcome{.states = found_.size()};
    if (!wrong_.empty()) {
      outcome.how = steps_to(wrong_state_) + wrong_;
      return outcome;
    }
    const std::size_t stuck = find_stuck();
    outcome.holds = stuck == found_.size();
    if (!outcome.holds) outcome.how = steps_to(stuck) + "from here on the goal cannot be reached\n";
    return outcome;
  }

 private:
  /// How a state was found first.
  struct Found {
    std::uint32_t before;
    std::uint8_t thread, step;
    std::int8_t value;
    bool is_goal = false;
  };
  struct Move {
    std::uint32_t before;
    int thread, step, value;
  };

  class Seen : public State {
   public:
    Seen(const Explorer& explorer, const World& world) : explorer_(explorer), world_(world) {}
    bool ended(int thread) const override { return world_.threads[thread].ended; }
    int value(Location at) const override {
      return world_.memory[at.index][world_.written[at.index] - 1].value;
    }
    int value(int thread, Register of) const override { return world_.threads[thread].registers[of.index]; }

   private:
    [[maybe_unused]] const Explorer& explorer_;
    const World& world_;
  };

  [[noreturn]] static void fail(const char* text) {
    std::fprintf(stderr, "%s\n", text);
    std::abort();
  }

  const Program& program(int thread) const { return model_.programs_[static_cast<std::size_t>(thread)]; }

  // What threads do.

  static void fence(World& world, Thread& thread) {
    join(thread.sees, thread.acquires);
    join(thread.sees, world.fences);
    world.fences = thread.acquires = thread.releases = thread.sees;
  }

  /// The oldest value of a location that a thread may read, or write after.
  int oldest(const World& world, const Thread& thread, int at, std::memory_order order) const {
    if (memory_ == Memory::kSequential) return world.written[at] - 1;
    return order == std::memory_order_seq_cst ? std::max(thread.sees[at], world.fences[at]) : thread.sees[at];
  }

  static int read(const World& world, Thread& thread, int at, int place, std::memory_order order) {
    const Written& found = world.memory[at][place];
    thread.sees[at] = static_cast<std::uint8_t>(std::max<int>(thread.sees[at], place));
    join(thread.acquires, found.view);
    if (acquires(order)) join(thread.sees, found.view);
    join(thread.acquires, thread.sees);
    return found.value;
  }

  /// Writes a value at `place` in the order of modification; those from there on come later by one.
  static void write(World& world, Thread& thread, const Step& step, int place, int value, const View* read) {
    const int at = step.at.index;
    const auto shift = [&](View& view) {
      if (view[at] >= place) ++view[at];
    };
    for (Thread& one : world.threads) {
      shift(one.sees);
      shift(one.acquires);
      shift(one.releases);
    }
    shift(world.fences);
    for (int i = 0; i < kLocations; ++i)
      for (int k = 0; k < world.written[i]; ++k) shift(world.memory[i][k].view);
    auto& all = world.memory[at];
    std::move_backward(all.begin() + place, all.begin() + world.written[at],
                       all.begin() + world.written[at] + 1);
    ++world.written[at];
    thread.sees[at] = static_cast<std::uint8_t>(place);
    join(thread.acquires, thread.sees);
    Written& made = all[place];
    made = {static_cast<std::int8_t>(value), read != nullptr,
            releases(step.order) ? thread.sees : thread.releases};
    if (read != nullptr) join(made.view, *read);
    made.view[at] = static_cast<std::uint8_t>(place);
    if (step.order == std::memory_order_seq_cst)
      world.fences[at] = std::max(world.fences[at], static_cast<std::uint8_t>(place));
  }

  static int after(const Step& step, int value, const Registers& registers) {
    const int operand = step.operands.front().in(registers);
    return step.kind == Step::Kind::kAdd ? value + operand : operand;
  }

  void step(const World& here, int t) {
    const Thread& me = here.threads[t];
    if (me.ended) return;
    const Step& step = program(t).steps_[me.at];
    const int at = step.at.index;
    if (me.sleeps) {
      if (step.number != 0) {  // its time runs out
        World next = here;
        leave_queue(next, t);
        next.threads[t].registers[step.into.index] = 1;
        finish(next, t, 1);
      }
      return;
    }
    const int first = step.kind == Step::Kind::kFutexWait ? 0 : oldest(here, me, at, step.order);
    switch (step.kind) {
      case Step::Kind::kLoad:
        for (int place = first; place < here.written[at]; ++place) {
          World next = here;
          Thread& thread = next.threads[t];
          const int value = read(next, thread, at, place, step.order);
          thread.registers[step.into.index] = static_cast<std::int8_t>(value);
          finish(next, t, value);
        }
        break;
      case Step::Kind::kStore:
        for (int place = first + 1; place <= here.written[at]; ++place) {
          if (place < here.written[at] && here.memory[at][place].follows) continue;
          World next = here;
          const int value = step.operands.front().in(me.registers);
          write(next, next.threads[t], step, place, value, nullptr);
          finish(next, t, value);
        }
        break;
      case Step::Kind::kExchange:
      case Step::Kind::kAdd:
      case Step::Kind::kCompareExchange:
        for (int place = first; place < here.written[at]; ++place) change(here, t, step, place);
        break;
      case Step::Kind::kFutexWait:
        wait(here, t, step);
        break;
      default:
        other_step(here, t, step);
    }
  }

  /// An atomic operation that reads the value at `place`.
  void change(const World& here, int t, const Step& step, int place) {
    const int at = step.at.index;
    World next = here;
    Thread& thread = next.threads[t];
    const int value = here.memory[at][place].value;
    const bool compares = step.kind == Step::Kind::kCompareExchange;
    const bool writes = !compares || value == step.operands.back().in(thread.registers);
    if (writes && place + 1 < here.written[at] && here.memory[at][place + 1].follows) return;
    const View seen = here.memory[at][place].view;
    const int operand = after(step, value, thread.registers);
    read(next, thread, at, place, step.order);
    thread.registers[step.into.index] = static_cast<std::int8_t>(compares ? writes : value);
    if (writes) write(next, thread, step, place + 1, operand, &seen);
    finish(next, t, value);
  }

  /// The kernel makes a fence before it reads the word, and reads it with the queue locked.
  void wait(const World& here, int t, const Step& step) {
    World fenced = here;
    fence(fenced, fenced.threads[t]);
    const int at = step.at.index, expected = step.operands.front().in(fenced.threads[t].registers);
    for (int place = oldest(fenced, fenced.threads[t], at, step.order); place < fenced.written[at]; ++place) {
      World next = fenced;
      Thread& thread = next.threads[t];
      thread.registers[step.into.index] = 0;
      if (read(next, thread, at, place, step.order) != expected) {
        finish(next, t, 0);
        continue;
      }
      thread.sleeps = true;
      *std::ranges::find(next.queue, 0) = static_cast<std::uint8_t>(t + 1);
      add(next, {now_, t, here.threads[t].at, expected});
    }
  }

  void other_step(const World& here, int t, const Step& step) {
    World next = here;
    Thread& thread = next.threads[t];
    switch (step.kind) {
      case Step::Kind::kFence:
        fence(next, thread);
        break;
      case Step::Kind::kFenceOf: {  // first of itself, then of each other thread, then of itself again
        const int other = thread.fences == 0 || thread.fences > threads_ ? t : thread.fences - 1;
        fence(next, next.threads[other]);
        if (next.threads[other].ended) next.threads[other].acquires = next.threads[other].releases = {};
        const auto is_left_out = [&](int one) {
          return one == t || program(one).process_ != program(t).process_;
        };
        const bool is_over = thread.fences > threads_;
        do ++thread.fences;
        while (thread.fences <= threads_ && is_left_out(thread.fences - 1));
        if (!is_over) return add(next, {now_, t, thread.at, other});
        thread.fences = 0;
        break;
      }
      case Step::Kind::kFutexWake:
        fence(next, thread);
        for (int left = step.number; left > 0; --left) {
          const auto sleeper = std::ranges::find_if(next.queue, [&](std::uint8_t one) {
            return one != 0 && program(one - 1).steps_[next.threads[one - 1].at].at.index == step.at.index;
          });
          if (sleeper == next.queue.end()) break;
          const int woken = *sleeper - 1;
          leave_queue(next, woken);
          ++next.threads[woken].at;
          go_on(next, woken);
        }
        break;
      default:
        break;
    }
    finish(next, t, 0);
  }

  static void leave_queue(World& world, int t) {
    world.threads[t].sleeps = false;
    const auto end = std::remove(world.queue.begin(), world.queue.end(), t + 1);
    std::fill(end, world.queue.end(), 0);
  }

  void finish(World& next, int t, int value) {
    const int step = next.threads[t].at++;
    go_on(next, t);
    add(next, {now_, t, step, value});
  }

  /// Does what belongs to the last step of a thread.
  void go_on(World& world, int t) {
    Thread& thread = world.threads[t];
    for (int count = 0; count < 1000; ++count) {
      const Step& step = program(t).steps_.at(thread.at);
      switch (step.kind) {
        case Step::Kind::kJump:
          if (step.condition == nullptr || step.condition(thread.registers))
            thread.at = static_cast<std::uint8_t>(program(t).labels_.at(step.label));
          else
            ++thread.at;
          continue;
        case Step::Kind::kLet:
          step.action(thread.registers);
          break;
        case Step::Kind::kCheck:
          if (!step.condition(thread.registers) && wrong_.empty())
            wrong_ = program(t).name_ + ": " + step.label + "\n";
          break;
        case Step::Kind::kEnd:
          // What it has written may still be late, until a fence of it.
          thread = {.at = thread.at, .ended = true, .registers = thread.registers, .sees = thread.sees};
          return;
        default:
          return;
      }
      ++thread.at;
    }
    fail("a loop without a step");
  }

  // States.

  /// Forgets values that no thread can read any more, so that equal states look equal.
  void forget(World& world) const {
    for (int at = 0; at < locations_; ++at) {
      int first = world.written[at] - 1;
      for (int t = 0; t < threads_; ++t)
        if (!world.threads[t].ended && uses_[t][at]) first = std::min<int>(first, world.threads[t].sees[at]);
      first = std::max(first, world.written[at] - (memory_ == Memory::kSequential ? 1 : kHistory));
      const auto cut = [&](View& view) {
        view[at] = static_cast<std::uint8_t>(std::max(view[at] - first, 0));
      };
      for (int t = 0; t < threads_; ++t) {
        Thread& thread = world.threads[t];
        cut(thread.sees);
        cut(thread.acquires);
        cut(thread.releases);
      }
      cut(world.fences);
      for (int i = 0; i < locations_; ++i)
        for (int k = 0; k < world.written[i]; ++k) cut(world.memory[i][k].view);
      auto& all = world.memory[at];
      std::move(all.begin() + first, all.begin() + world.written[at], all.begin());
      world.written[at] = static_cast<std::uint8_t>(world.written[at] - first);
      for (std::size_t k = world.written[at]; k < all.size(); ++k) all[k] = {};
      all[0].follows = false;
    }
  }

  void add(World world, const Move& move) {
    forget(world);
    if (memory_ == Memory::kSequential) forget_views(world);
    std::string bytes;
    for (int at = 0; at < locations_; ++at) {
      bytes += static_cast<char>(world.written[at]);
      for (int k = 0; k < world.written[at]; ++k) {
        bytes += static_cast<char>(world.memory[at][k].value);
        bytes += world.memory[at][k].follows ? '\1' : '\0';
        bytes.append(world.memory[at][k].view.begin(), world.memory[at][k].view.begin() + locations_);
      }
    }
    for (int t = 0; t < threads_; ++t) {
      const Thread& thread = world.threads[t];
      bytes.append({static_cast<char>(thread.at), static_cast<char>(thread.fences),
                    static_cast<char>(thread.sleeps + 2 * thread.ended), static_cast<char>(world.queue[t])});
      bytes.append(thread.registers.begin(), thread.registers.end());
      for (const View* view : {&thread.sees, &thread.acquires, &thread.releases})
        bytes.append(view->begin(), view->begin() + locations_);
    }
    bytes.append(world.fences.begin(), world.fences.begin() + locations_);
    const auto [known, is_new] =
        numbers_.try_emplace(hash_of(bytes), static_cast<std::uint32_t>(found_.size()));
    if (!found_.empty()) moves_.emplace_back(move.before, known->second);
    if (!wrong_.empty() && wrong_state_ == 0) wrong_state_ = known->second;
    if (!is_new) return;
    if (found_.size() == most_) fail("the model has too many states");
    found_.push_back({move.before, static_cast<std::uint8_t>(move.thread),
                      static_cast<std::uint8_t>(move.step), static_cast<std::int8_t>(move.value)});
    frontier_.push_back(world);
  }

  void forget_views(World& world) const {
    world.fences = {};
    for (Thread& thread : world.threads) thread.sees = thread.acquires = thread.releases = {};
    for (auto& all : world.memory) all[0].view = {};
  }

  /// A state from which no goal can be reached; the number of states if there is none.
  std::size_t find_stuck() const {
    std::vector<std::vector<std::uint32_t>> before(found_.size());
    for (const auto& [from, to] : moves_) before[to].push_back(from);
    std::vector<bool> leads(found_.size());
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < found_.size(); ++i)
      if (found_[i].is_goal) left.push_back(i), leads[i] = true;
    while (!left.empty()) {
      const std::uint32_t state = left.back();
      left.pop_back();
      for (const std::uint32_t one : before[state])
        if (!leads[one]) left.push_back(one), leads[one] = true;
    }
    return static_cast<std::size_t>(std::find(leads.begin(), leads.end(), false) - leads.begin());
  }

  std::string steps_to(std::size_t state) const {
    std::vector<std::string> lines;
    for (; state != 0; state = found_[state].before) {
      const Found& found = found_[state];
      lines.push_back(program(found.thread).name_ + ": " +
                      words(program(found.thread).steps_[found.step], found.value));
    }
    std::string all;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) all += *line + "\n";
    return all;
  }

  std::string words(const Step& step, int value) const {
    constexpr const char* kWords[] = {"reads", "writes",     "exchanges",  "adds to",    "compares",
                                      "fence", "membarrier", "futex wait", "futex wake", "pause"};
    const auto kind = static_cast<std::size_t>(step.kind);
    if (kind >= std::size(kWords)) return "?";
    std::string text = kWords[kind];
    if (step.kind == Step::Kind::kFence || step.kind == Step::Kind::kPause) return text;
    if (step.kind == Step::Kind::kFenceOf) return text + " of " + program(value).name_;
    return text + " " + model_.locations_[static_cast<std::size_t>(step.at.index)] + ": " +
           std::to_string(value);
  }

  const Model& model_;
  const Memory memory_;
  const std::size_t most_;
  const int locations_, threads_;
  std::array<std::array<bool, kLocations>, kThreads> uses_{};
  std::unordered_map<std::array<std::uint64_t, 2>, std::uint32_t, Hash> numbers_;
  std::vector<Found> found_;
  std::deque<World> frontier_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moves_;
  std::uint32_t now_ = 0;
  std::string wrong_;
  std::uint32_t wrong_state_ = 0;
};

Outcome Model::explore(Memory memory, const std::function<bool(const State&)>& goal, std::size_t most) const {
  return Explorer(*this, memory, most).run(goal);
}

}  // namespace clump::models
