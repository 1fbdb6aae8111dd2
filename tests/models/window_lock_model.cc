// The lock of a rank's part of a window (src/rma/lock.h, lock.cc): origins take it by one atomic operation,
// or stand in a queue and are told. Properties: every origin gets the lock; no two have it at once, but
// sharers; what a former holder has written is seen.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel;
// The word: held exclusively, origins wait, how many hold it shared.
constexpr int kExclusive = 64, kQueue = 32, kSharers = 31;
constexpr Register word{0}, r1{1}, first{2}, next{3}, mine{4};  // and 5: it is open
bool is_r1_0(const Registers& r) { return r[1] == 0; }

struct Protocol {
  std::memory_order taken = acquire;  ///< of the operation that takes it
  bool sharers_look_at_queue = true;  ///< the last sharer tells the origins that wait
  bool queues_while_held = true;  ///< an origin says that it waits only while it sees that the lock is held
};

enum Type : std::int8_t { kShared, kOnly };

bool is_open(int value, Type type) {
  return type == kShared ? (value & (kExclusive | kQueue)) == 0 : value == 0;
}
std::int8_t with(int value, Type type) {
  return static_cast<std::int8_t>(type == kShared ? value + 1 : value | kExclusive);
}

/// What origins share. At most two stand in the queue: `first` and `second` are their numbers from 1.
struct Words {
  Words(Model& model, const std::vector<Type>& types)
      : lock(model.location("word")),
        mutex(model.location("mutex")),
        first(model.location("first")),
        second(model.location("second")),
        data(model.location("data")),
        types(types) {
    for (std::size_t i = 0; i < types.size(); ++i)
      told.push_back(model.location("told " + std::to_string(i)));
  }
  Location lock, mutex, first, second, data;
  std::vector<Location> told;
  std::vector<Type> types;
};

void lock_mutex(Program& origin, const Words& words, const std::string& name) {
  origin.label(name)
      .exchange(r1, words.mutex, 1, acquire)
      .jump_if([](const Registers& r) { return r[1] != 0; }, name);
}

/// try_take(), take_or_queue(); goes on at "has it".
void take(Program& origin, const Words& words, int i, const Protocol& protocol) {
  const Type type = words.types[static_cast<std::size_t>(i)];
  origin.label("try")
      .load(word, words.lock, relaxed)
      .jump_if([type](const Registers& r) { return !is_open(r[0], type); }, "queue")
      .let([type](Registers& r) { r[3] = with(r[0], type); })
      .compare_exchange(r1, words.lock, word, next, protocol.taken)
      .jump_if(is_r1_0, "try")
      .jump("has it")
      .label("queue");
  lock_mutex(origin, words, "mutex");
  origin.label("again").load(word, words.lock, relaxed).let([type](Registers& r) {
    r[5] = is_open(r[0], type);
    r[3] = static_cast<std::int8_t>(r[5] != 0 ? with(r[0], type) : r[0] | kQueue);
  });
  if (protocol.queues_while_held)
    origin.compare_exchange(r1, words.lock, word, next, protocol.taken).jump_if(is_r1_0, "again");
  else
    origin.store(words.lock, next, release);
  origin.jump_if([](const Registers& r) { return r[5] == 0; }, "stand")
      .store(words.mutex, 0, release)
      .jump("has it")
      .label("stand")
      .load(r1, words.first, relaxed)
      .jump_if(is_r1_0, "is first")
      .store(words.second, i + 1, relaxed)
      .jump("stands")
      .label("is first")
      .store(words.first, i + 1, relaxed)
      .label("stands")
      .store(words.mutex, 0, release)
      .label("told")
      .futex_wait(r1, words.told[static_cast<std::size_t>(i)], 0)
      .load(r1, words.told[static_cast<std::size_t>(i)], acquire)
      .jump_if(is_r1_0, "told")
      .label("has it");
}

/// give_back(), grant(). Register 5: whom to tell, a bit each.
void give_back(Program& origin, const Words& words, Type type, const Protocol& protocol) {
  origin.fence();
  if (type == kShared)
    origin.add(word, words.lock, -1, acq_rel)
        .jump_if([](const Registers& r) { return (r[0] & kQueue) == 0 || (r[0] & kSharers) != 1; }, "end");
  else
    origin.compare_exchange(r1, words.lock, kExclusive, 0, release)
        .jump_if([](const Registers& r) { return r[1] != 0; }, "end");
  if (type == kShared && !protocol.sharers_look_at_queue) origin.jump("end");
  lock_mutex(origin, words, "grant");
  if (type == kShared)
    origin.load(word, words.lock, acquire);
  else  // fetch_and(~kExclusive): only the holder has set this bit
    origin.add(word, words.lock, -kExclusive, acq_rel).let([](Registers& r) {
      r[0] = static_cast<std::int8_t>(r[0] - kExclusive);
    });
  origin.let([](Registers& r) { r[5] = 0; });
  origin.label("more")
      .load(first, words.first, relaxed)
      .jump_if([](const Registers& r) { return r[2] == 0; }, "none");
  origin.label("give")
      .jump_if(
          [&words](const Registers& r) {
            const bool only = words.types[static_cast<std::size_t>(r[2] - 1)] == kOnly;
            return (r[0] & kExclusive) != 0 || (only && (r[0] & kSharers) != 0);
          },
          "unlock")
      .let([&words](Registers& r) { r[3] = with(r[0], words.types[static_cast<std::size_t>(r[2] - 1)]); })
      .compare_exchange(r1, words.lock, word, next, acq_rel)
      .jump_if([](const Registers& r) { return r[1] != 0; }, "given")
      .load(word, words.lock, relaxed)
      .jump("give")
      .label("given")
      .let([](Registers& r) {
        r[0] = r[3];
        r[5] = static_cast<std::int8_t>(r[5] | 1 << (r[2] - 1));
      })
      .load(r1, words.second, relaxed)
      .store(words.first, r1, relaxed)
      .store(words.second, 0, relaxed)
      .jump("more")
      .label("none")
      .load(word, words.lock, relaxed)
      .let([](Registers& r) { r[3] = static_cast<std::int8_t>(r[0] & ~kQueue); })
      .compare_exchange(r1, words.lock, word, next, acq_rel)
      .jump_if(is_r1_0, "none")
      .label("unlock")
      .store(words.mutex, 0, release);
  for (std::size_t i = 0; i < words.told.size(); ++i) {
    const std::string over = "is not " + std::to_string(i);
    origin.jump_if([i](const Registers& r) { return (r[5] >> i & 1) == 0; }, over)
        .store(words.told[i], 1, release)
        .futex_wake(words.told[i], 1)
        .label(over);
  }
  origin.label("end").end();
}

Outcome explore(Memory memory, const std::vector<Type>& types, const Protocol& protocol) {
  Model model;
  const Words words(model, types);
  const auto check_alone = [](const Registers& r) { return r[4] % 2 == 0; };
  for (int i = 0; i < static_cast<int>(types.size()); ++i) {
    const Type type = types[static_cast<std::size_t>(i)];
    Program& origin = model.thread("origin " + std::to_string(i));
    take(origin, words, i, protocol);
    origin.load(mine, words.data, relaxed)
        .check(check_alone, "another origin is in the middle of its access");
    if (type == kOnly) origin.store(words.data, 1, relaxed).store(words.data, 2 * i + 2, relaxed);
    give_back(origin, words, type, protocol);
  }
  return model.explore(memory, [&](const State& s) {
    for (int i = 0; i < static_cast<int>(types.size()); ++i)
      if (!s.ended(i)) return false;
    return s.value(words.lock) == 0;
  });
}

void note(const std::string& what, const Outcome& outcome) {
  EXPECT_TRUE(outcome.holds) << what << "\n" << outcome.how;
  testing::Test::RecordProperty(what, static_cast<int>(outcome.states));
}

TEST(WindowLockModel, EveryOriginGetsTheLockAndNoTwoHaveIt) {
  for (const std::vector<Type>& types : {std::vector{kOnly, kOnly}, {kOnly, kShared}}) {
    note("sequential", explore(Memory::kSequential, types, {}));
    note("release_acquire", explore(Memory::kReleaseAcquire, types, {}));
  }
}

TEST(WindowLockModel, ThreeOriginsDoSoToo) {
  for (const std::vector<Type>& types :
       {std::vector{kOnly, kOnly, kOnly}, {kOnly, kShared, kShared}, {kOnly, kOnly, kShared}}) {
    note("sequential", explore(Memory::kSequential, types, {}));
    note("release_acquire", explore(Memory::kReleaseAcquire, types, {}));
  }
}

TEST(WindowLockModel, FindsAnOriginThatQueuesWhenTheLockIsFree) {
  EXPECT_FALSE(explore(Memory::kSequential, {kOnly, kOnly}, {.queues_while_held = false}).holds);
}

TEST(WindowLockModel, FindsTheLastSharerThatTellsNoOrigin) {
  EXPECT_FALSE(explore(Memory::kSequential, {kOnly, kShared}, {.sharers_look_at_queue = false}).holds);
}

TEST(WindowLockModel, FindsAHolderThatDoesNotSeeTheLastOnesData) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {kOnly, kOnly}, {.taken = relaxed}).holds);
}

}  // namespace
}  // namespace clump::models
