#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pmi/control.h"
#include "pmi/job.h"
#include "pmi/job_check.h"
#include "pmi/job_file.h"
#include "pmi/node_memory.h"
#include "pmi/rank_variables.h"
#include "pmi/waits.h"

namespace clump::pmi {
namespace {

Job sample() {
  Job job;
  job.apps.push_back({"/bin/a", {"a", "", "two words"}, {"X=1", "EMPTY="}, "/tmp", 3});
  job.apps.push_back({"/bin/b", {"b"}, {}, "", 2});
  job.output = {"%t [%r] ", 3600, true, {"/tmp/out.%r", "/tmp/err.%r.%h"}, true};
  job.scheduler = Scheduler::kThreads;
  job.cores = {4, 1};
  job.places = {{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}};
  job.other_cores = {2, 3};
  job.helpers = 0;
  job.universe = 64;
  job.link_id = 0x123456789abcdef0;
  job.link_token = 7;
  job.shares_names = true;
  job.parent_port = "clump:node-p1:0:0:1:2:1:3";
  job.launch_words = {"--launcher", "ssh"};
  job.has_proxies = true;
  job.seed = 20261123;
  job.processes = {{0, 5, false}};
  job.nodes = {{"here", 0, 1}};
  return job;
}

TEST(Account, ComesBackAsItWas) {
  Account account;
  account.standings = {{3, Standing::State::kFinalized, "MPI_Finalize"}};
  account.comms = {{{8, 1}, "halo", {1, 3}}};
  account.begun = {{3, {8, 1}, 7}};
  account.waiters = {{3,
                      {{"/bin/a", 0x12}},
                      {{Awaited::Kind::kCollective, {8, 1}, 2, 5, -6, "MPI_Ibcast", true, 4, {1, 3}}}}};
  account.unmatched = {{3, 1, 9, {8, 1}, 100, 2}};
  account.posted = {{3, Awaited::kAny, 9, {8, 1}, 1}};
  Account read;
  ASSERT_TRUE(decode(std::string_view(encode(account)), read));
  EXPECT_EQ(encode(read), encode(account));
  ASSERT_EQ(read.waiters.size(), 1u);
  EXPECT_EQ(read.waiters[0].items, account.waiters[0].items);
  EXPECT_EQ(read.comms[0].members, account.comms[0].members);
  EXPECT_EQ(read.standings[0].call, "MPI_Finalize");
  EXPECT_FALSE(decode(std::string_view(encode(account)).substr(0, 40), read));
}

// Who wakes, rings, or has never told is not at rest.
TEST(NodeMemory, KnowsWhoRests) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 2});
  job.scheduler = Scheduler::kThreads;
  job.processes = {{0, 1, true}, {1, 1, true}};
  job.nodes = {{"here", 0, 2}};
  int file = -1;
  NodeMemory memory;
  ASSERT_TRUE(NodeMemory::make(job, file).ok() && NodeMemory::map(job, file, memory).ok());
  std::uint64_t since = 0;
  EXPECT_FALSE(memory.rests(job, 1, since));
  memory.host(1).wakes = 4;
  memory.host(1).rested = 5;
  EXPECT_FALSE(memory.rests(job, 1, since));  // it does not sleep at its bell
  memory.bell(job.first_port(1)).progress_sleeper = 1;
  EXPECT_TRUE(memory.rests(job, 1, since));
  EXPECT_EQ(since, 4u);
  memory.bell(job.first_port(1)).ring();
  EXPECT_FALSE(memory.rests(job, 1, since));
  memory.bell(job.first_port(1)).progress_sleeper = 1;
  ++memory.host(1).wakes;
  EXPECT_FALSE(memory.rests(job, 1, since));
  // All of its threads sleep outside MPI, and none at the bell.
  memory.bell(job.first_port(1)).progress_sleeper = 0;
  memory.host(1).outside = 6;
  EXPECT_TRUE(memory.rests(job, 1, since));
  EXPECT_EQ(since, 5u);
  ++memory.host(1).wakes;
  EXPECT_FALSE(memory.rests(job, 1, since));
  ::close(file);
}

// Any of the worker threads that a worker has had may sleep there.
TEST(NodeMemory, KnowsWhetherWorkersRest) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 2});
  job.cores = {0, 1};
  job.processes = {{0, 1}, {1, 1}};
  job.nodes = {{"here", 0, 2}};
  int file = -1;
  NodeMemory memory;
  ASSERT_TRUE(NodeMemory::make(job, file).ok() && NodeMemory::map(job, file, memory).ok());
  std::uint64_t since = 0;
  memory.host(1).rested = 1;
  base::Bell& bell = memory.bell(job.first_port(1));
  for (const std::uint32_t number : {base::Bell::kLeast, base::Bell::kLeast + base::Bell::kStep}) {
    EXPECT_FALSE(memory.rests(job, 1, since));
    bell.worker = number;
    EXPECT_TRUE(memory.rests(job, 1, since));
    bell.ring();
    EXPECT_TRUE(base::Bell::is_rung(bell.worker));
  }
  ::close(file);
}

TEST(Job, ComesBackAsItWas) {
  Job read;
  ASSERT_TRUE(decode(encode(sample()), read).ok());
  ASSERT_EQ(read.apps.size(), 2u);
  EXPECT_EQ(read.apps[0].program, "/bin/a");
  EXPECT_EQ(read.apps[0].arguments, sample().apps[0].arguments);
  EXPECT_EQ(read.apps[0].environment, sample().apps[0].environment);
  EXPECT_EQ(read.apps[0].working_directory, "/tmp");
  EXPECT_EQ(read.apps[1].ranks, 2);
  EXPECT_EQ(read.output, sample().output);
  EXPECT_FALSE(read.spin);
  EXPECT_EQ(read.scheduler, Scheduler::kThreads);
  EXPECT_EQ(read.cores, sample().cores);
  EXPECT_EQ(read.places, sample().places);
  EXPECT_EQ(read.other_cores, sample().other_cores);
  EXPECT_EQ(read.helpers, 0);
  EXPECT_EQ(read.universe, 64);
  EXPECT_EQ(read.link_id, sample().link_id);
  EXPECT_EQ(read.link_token, sample().link_token);
  EXPECT_TRUE(read.shares_names);
  EXPECT_EQ(read.parent_port, sample().parent_port);
  EXPECT_EQ(read.launch_words, sample().launch_words);
  EXPECT_TRUE(read.has_proxies);
  EXPECT_EQ(read.seed, 20261123u);
}

TEST(Job, NamesFilesForOutput) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 12});
  job.processes = {{0, 6, false}, {6, 6, false}};
  job.nodes = {{"h0", 0, 1}, {"h1", 1, 1}};
  job.output.files = {"/a/%h/rank.%r.out", "/a/100%%/%%r%r%r"};
  EXPECT_EQ(job.output_file(3, 1), "/a/h0/rank.3.out");
  EXPECT_EQ(job.output_file(11, 1), "/a/h1/rank.11.out");
  EXPECT_EQ(job.output_file(11, 2), "/a/100%/%r1111");
  job.node = 1;
  EXPECT_EQ(job.output_file(12, 1), "/a/h1/rank.12.out") << "a rank that joins";
  job.output.files = {};
  EXPECT_EQ(job.output_file(3, 2), "");
}

TEST(Job, SharesCoresAmongRanks) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 2});
  job.processes = {{0, 2, false}};
  job.nodes = {{"here", 0, 1}};
  job.cores = {0, 4};
  job.other_cores = {1, 2, 3, 5, 6};
  EXPECT_EQ(job.cores_of(0), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(job.cores_of(1), (std::vector<std::int32_t>{4, 3, 5, 6}));
  EXPECT_EQ(job.share_of(1), 4);
  job.apps.front().ranks = 6;
  job.processes = {{0, 6, false}};
  job.other_cores.clear();
  EXPECT_EQ(job.cores_of(2), std::vector<std::int32_t>{0});
  EXPECT_EQ(job.cores_of(3), std::vector<std::int32_t>{4});
  EXPECT_EQ(job.share_of(3), 1);
  job.cores = {-1, -1};
  EXPECT_TRUE(job.cores_of(3).empty());
  EXPECT_EQ(job.share_of(3), 1);
}

TEST(Job, DividesRanksAmongProcesses) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 7});
  job.cores = {0, 1};
  job.processes = {{0, 2, false}, {2, 4, false}, {6, 1, true}};
  job.nodes = {{"here", 0, 3}};
  job.process = 1;
  Job read;
  ASSERT_TRUE(decode(encode(job), read).ok());
  EXPECT_EQ(read.processes, job.processes);
  EXPECT_TRUE(job.is_here(5));
  EXPECT_FALSE(job.is_here(6));
  EXPECT_EQ(job.process_of(1), 0);
  EXPECT_EQ(job.process_of(2), 1);
  EXPECT_EQ(job.process_of(6), 2);
  // Ranks 0 to 3 are worker 0's, the others worker 1's: the second process has both.
  EXPECT_EQ(job.workers(job.processes[0]), 1);
  EXPECT_EQ(job.workers(job.processes[1]), 2);
  EXPECT_EQ(job.workers(job.processes[2]), 0);
  EXPECT_EQ(job.port_of(1), 0);
  EXPECT_EQ(job.port_of(3), 1);
  EXPECT_EQ(job.port_of(4), 2);
  EXPECT_EQ(job.port_of(6), 3);
  job.scheduler = Scheduler::kThreads;  // a port for each process
  EXPECT_EQ(job.port_of(5), 1);
  EXPECT_EQ(job.first_port(2), 2);
}

TEST(Job, MapsRanksInAnyOrder) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 7});
  job.cores = {0, 1};
  job.rank_mapping = RankMapping({0, 3, 1, 4, 6, 2, 5});  // two on the first host, then three, then two
  job.processes = {{0, 2, false}, {2, 2, false}, {4, 1, true}, {5, 2, false}};
  job.nodes = {{"a", 0, 1}, {"b", 1, 2}, {"c", 3, 1}};
  job.node = job.process = 1;
  Job read;
  ASSERT_TRUE(decode(encode(job), read).ok());
  EXPECT_EQ(read.rank_mapping.ranks(), job.rank_mapping.ranks());
  std::vector<int> nodes, processes;
  for (int rank = 0; rank < 7; ++rank) {
    nodes.push_back(read.node_of(rank));
    processes.push_back(read.process_of(rank));
    EXPECT_EQ(read.rank_mapping.rank_at(read.rank_mapping.slot_of(rank)), rank);
  }
  EXPECT_EQ(nodes, (std::vector<int>{0, 1, 2, 0, 1, 2, 1}));
  EXPECT_EQ(processes, (std::vector<int>{0, 1, 3, 0, 1, 3, 2}));
  EXPECT_EQ(job.ranks_of(job.nodes[1]), (std::vector<int>{1, 4, 6}));
  EXPECT_EQ(job.first_rank(job.processes[3]), 2);
  EXPECT_TRUE(job.is_here(4));
  EXPECT_FALSE(job.is_here(3));
  // Ranks 1 and 4 have the first worker of this host.
  EXPECT_EQ(job.worker_of(1), 0);
  EXPECT_EQ(job.worker_of(4), 0);
  EXPECT_EQ(job.worker_of(6), 1);
  EXPECT_EQ(job.port_of(6), 1);
  EXPECT_EQ(job.cores_of(6), std::vector<std::int32_t>{1});
}

TEST(Job, DescribesSlotsInFewBytes) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 10000});
  for (int host = 0; host < 10; ++host) {
    job.processes.push_back({host * 1000, 1000, false});
    job.nodes.push_back({"", host, 1});
  }
  const std::size_t in_order = encode(job).size();
  std::vector<std::int32_t> slots;
  for (int host = 0; host < 10; ++host)
    for (int rank = host; rank < 10000; rank += 10) slots.push_back(rank);
  job.rank_mapping = RankMapping(slots);
  const std::string bytes = encode(job);
  EXPECT_LE(bytes.size(), in_order + 10 * 12);
  Job read;
  ASSERT_TRUE(decode(bytes, read).ok());
  EXPECT_EQ(read.rank_mapping.ranks(), slots);
}

TEST(NodeMemory, IsTheSameInEveryProcess) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 4});
  job.scheduler = Scheduler::kThreads;
  job.processes = {{0, 2, false}, {2, 2, false}};
  job.nodes = {{"here", 0, 2}};
  int descriptor = -1;
  ASSERT_TRUE(NodeMemory::make(job, descriptor).ok());
  NodeMemory one, other;
  ASSERT_TRUE(NodeMemory::map(job, descriptor, one).ok());
  ASSERT_TRUE(NodeMemory::map(job, descriptor, other).ok());
  EXPECT_EQ(other.host(1).owing, 0);
  one.host(1).owing = 2;
  one.bell(1).progress_sleeper = 1;
  EXPECT_EQ(other.host(1).owing, 2);
  EXPECT_EQ(other.host(0).owing, 0);
  EXPECT_EQ(other.bell(1).progress_sleeper, 1u);
  other.bell(1).ring();
  EXPECT_EQ(one.bell(1).progress_sleeper, 0u) << "nobody sleeps there any more";
  EXPECT_EQ(NodeMemory::end(job) % 4096, 0u);
  ::close(descriptor);
}

TEST(Job, NumbersRanksThroughTheApps) {
  const Job job = sample();
  EXPECT_EQ(job.ranks(), 5);
  EXPECT_EQ(job.app_of(0), 0);
  EXPECT_EQ(job.app_of(2), 0);
  EXPECT_EQ(job.app_of(3), 1);
  EXPECT_EQ(job.app_of(4), 1);
}

TEST(Job, MapsRanksToWorkersInBlocks) {
  Job job = sample();
  std::vector<int> homes;
  for (int rank = 0; rank < job.ranks(); ++rank) homes.push_back(job.worker_of(rank));
  EXPECT_EQ(homes, (std::vector<int>{0, 0, 0, 1, 1}));
}

TEST(Job, RefusesEveryCutAndOtherVersions) {
  const std::string bytes = encode(sample());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    Job read;
    EXPECT_FALSE(decode(bytes.substr(0, cut), read).ok()) << cut;
  }
  Job read;
  EXPECT_FALSE(decode(bytes + "x", read).ok());
  std::string other = bytes;
  other[8] ^= 1;
  EXPECT_EQ(decode(other, read).error_class(), MPI_ERR_ARG);
}

/// A job of several hosts, with all that has numbers.
Job large_sample() {
  Job job = sample();
  job.scheduler = Scheduler::kFibers;
  job.seed.reset();
  job.rank_mapping = RankMapping({0, 3, 1, 4, 2});
  job.processes = {{0, 2, false}, {2, 2, false}, {4, 1, true}};
  job.nodes = {{"first", 0, 1}, {"second", 1, 2}};
  job.node = 1;
  job.process = 2;
  job.input = 3;
  job.network = {"tcp", "10.0.0.1"};
  return job;
}

/// Asks for all that a host process takes from its job. What is wrong with that, a sanitizer sees, or the end
/// of the test.
std::size_t ask_all(const Job& job) {
  std::size_t sum = job.here().plain ? 1 : 0;
  for (const HostProcess& one : job.processes) {
    const bool is_here = job.is_on_this_node(static_cast<int>(&one - job.processes.data()));
    for (const int rank : job.ranks_of(one)) {
      sum += static_cast<std::size_t>(job.node_of(rank) + job.process_of(rank) + job.app_of(rank));
      sum += job.output_file(rank, 1).size() + environment_of_rank(job, rank, job.apps[0].environment).size();
      if (is_here)
        sum += static_cast<std::size_t>(job.worker_of(rank) + job.port_of(rank) + job.share_of(rank)) +
               job.cores_of(rank).size();
    }
    if (is_here) sum += static_cast<std::size_t>(job.workers(one) + job.first_worker(one) + job.ports(one));
  }
  return sum + static_cast<std::size_t>(job.ports()) + NodeMemory::end(job);
}

/// Whether read_job() takes the bytes; then all can be asked of the job.
bool is_taken(const std::string& bytes, int process) {
  const int file = ::memfd_create("job", MFD_CLOEXEC);
  EXPECT_EQ(::pwrite(file, bytes.data(), bytes.size(), 0), std::ssize(bytes));
  Job job;
  const base::Status read = read_job(file, process, job);
  ::close(file);
  if (read.ok()) {
    EXPECT_GT(ask_all(job), 0U);
  } else {
    EXPECT_EQ(read.error_class(), MPI_ERR_ARG);
    EXPECT_FALSE(base::message_of(read.code()).empty());
    EXPECT_TRUE(job.processes.empty());
  }
  return read.ok();
}

// Each byte takes other values, each four bytes those that break counts, indices and sums.
TEST(Job, IsTakenOrRefusedWhateverByteIsDamaged) {
  for (const Job& job : {sample(), large_sample()}) {
    const std::string bytes = encode(job);
    ASSERT_TRUE(is_taken(bytes, job.process));
    int taken = 0, refused = 0;
    const auto try_with = [&](std::size_t at, const std::string& other) {
      std::string damaged = bytes;
      damaged.replace(at, std::min(other.size(), bytes.size() - at), other, 0, bytes.size() - at);
      ++(is_taken(damaged, job.process) ? taken : refused);
    };
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) try_with(at, {static_cast<char>(bytes[at] ^ 1 << bit)});
      for (const char value : {'\0', '\x7f', '\x80', '\xff'}) try_with(at, {value});
      for (const std::int32_t value : {-1, INT_MIN, INT_MAX, 1 << 24, 1 << 30}) {
        std::string four(sizeof value, '\0');
        std::memcpy(four.data(), &value, sizeof value);
        try_with(at, four);
      }
    }
    EXPECT_GT(taken, 0);  // letters of a name
    EXPECT_GT(refused, static_cast<int>(bytes.size()));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_FALSE(is_taken(bytes.substr(0, cut), job.process));
  }
}

TEST(Job, NamesWhatContradictsItself) {
  const auto found = [](const std::function<void(Job&)>& damage) {
    Job job = large_sample();
    damage(job);
    Job read;
    const base::Status status = decode(encode(job), read);
    return status.ok() ? std::string() : base::message_of(status.code());
  };
  const auto expect = [&](std::string_view words, const std::function<void(Job&)>& damage) {
    const std::string text = found(damage);
    EXPECT_NE(text.find(words), text.npos) << text;
  };
  EXPECT_EQ(found([](Job&) {}), "");
  expect("it has no program", [](Job& job) { job.apps.clear(); });
  expect("a program has -3 ranks", [](Job& job) { job.apps[0].ranks = -3; });
  expect("it has 2147483649 ranks", [](Job& job) { job.apps[0].ranks = INT_MAX; });
  expect("the program 'b' is not absolute", [](Job& job) { job.apps[1].program = "b"; });
  expect("2 ranks from slot 3 on, behind 2", [](Job& job) { job.processes[1].first_slot = 3; });
  expect("a plain process has 2 ranks", [](Job& job) { job.processes[0].plain = true; });
  expect("have 5 ranks, and its processes 4", [](Job& job) { job.processes.pop_back(); });
  expect("in slots", [](Job& job) { job.rank_mapping = RankMapping({3, 0, 1, 4, 2}); });
  expect("host 'second' has 2 processes", [](Job& job) { job.nodes[1].first = 0; });
  expect("have 0 processes of 3", [](Job& job) { job.nodes.clear(); });
  expect("it is for host 2 of 2", [](Job& job) { job.node = 2; });
  expect("there is no core 1073741824", [](Job& job) { job.cores[0] = 1 << 30; });
  expect("2 cores have 1 places", [](Job& job) { job.places.pop_back(); });
  expect("there is no scheduler 9", [](Job& job) { job.scheduler = Scheduler{9}; });
  expect("rank 5 of 5 reads the standard input", [](Job& job) { job.input = 5; });
  expect("a seed draws", [](Job& job) { job.seed = 1; });
  expect("'err?' is not absolute", [](Job& job) { job.output.files[1] = "err\n"; });
}

TEST(Job, IsReadByAProcessThatItHasOnThisNode) {
  const std::string bytes = encode(large_sample());
  for (const int process : {INT_MIN, -1, 0, 3, INT_MAX}) EXPECT_FALSE(is_taken(bytes, process)) << process;
  for (const int process : {1, 2}) EXPECT_TRUE(is_taken(bytes, process)) << process;
  Job job = large_sample();
  job.cores.clear();
  job.places.clear();
  EXPECT_FALSE(is_taken(encode(job), 1)) << "no worker runs its ranks";
  EXPECT_TRUE(is_taken(encode(job), 2)) << "it is plain";
  Job read;
  EXPECT_FALSE(read_job(-1, 1, read).ok());
}

TEST(NodeMemory, IsAsLongAsTheJobNeeds) {
  Job job = large_sample();
  int file = -1;
  NodeMemory memory;
  ASSERT_TRUE(NodeMemory::make(job, file).ok());
  EXPECT_TRUE(NodeMemory::map(job, file, memory).ok());
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(NodeMemory::end(job)) - 1), 0);
  EXPECT_EQ(NodeMemory::map(job, file, memory).error_class(), MPI_ERR_ARG);
  ::close(file);
  EXPECT_EQ(NodeMemory::map(job, -1, memory).error_class(), MPI_ERR_ARG);
}

TEST(Failure, ComesBackAsItWas) {
  const Failure sent{7,
                     Reason::kSignal,
                     11,
                     "at address 0x0",
                     {{"/bin/a", 0x1234, {}}, {"", 0xffffffffffffffff, {}}, {"solve.py", 41, "Solver.step"}}};
  Failure read;
  ASSERT_TRUE(decode(encode(sent), read));
  EXPECT_EQ(read.rank, 7);
  EXPECT_EQ(read.reason, Reason::kSignal);
  EXPECT_EQ(read.code, 11);
  EXPECT_EQ(read.text, sent.text);
  ASSERT_EQ(read.frames.size(), 3u);
  EXPECT_EQ(read.frames[2].function, "Solver.step");
  EXPECT_EQ(read.frames[0].object, "/bin/a");
  EXPECT_EQ(read.frames[1].address, 0xffffffffffffffffu);
}

TEST(Failure, InAFixedBufferLeavesOutOuterFrames) {
  const FailureView::Frame frames[] = {{"/bin/inner", 1}, {"/bin/outer", 2}};
  const FailureView sent{2, Reason::kSignal, 8, "text", frames};
  char large[1000];
  Failure read;
  ASSERT_TRUE(decode(std::string(large, encode(sent, large)), read));
  EXPECT_EQ(read.frames.size(), 2u);
  const std::size_t whole = encode(sent, large);
  ASSERT_TRUE(decode(std::string(large, encode(sent, std::span(large, whole - 1))), read));
  ASSERT_EQ(read.frames.size(), 1u);
  EXPECT_EQ(read.frames[0].object, "/bin/inner");
  EXPECT_EQ(encode(sent, std::span(large, 10)), 0u);
}

TEST(RestNote, ComesBackAsItWas) {
  const std::string bytes = encode(RestNote{3, 7, true, false, 1, 2, std::uint64_t{1} << 40});
  RestNote read;
  ASSERT_TRUE(decode(bytes, read));
  EXPECT_EQ(read.process, 3);
  EXPECT_EQ(read.check, 7u);
  EXPECT_TRUE(read.rests);
  EXPECT_FALSE(read.waits);
  EXPECT_EQ(read.taken, std::uint64_t{1} << 40);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size), read));
}

TEST(SpawnRequest, ComesBackAsItWas) {
  const std::string bytes = encode(SpawnRequest{{"--host", "a b"}, {"A=1", "B="}});
  SpawnRequest read;
  ASSERT_TRUE(decode(bytes, read));
  EXPECT_EQ(read.words, (std::vector<std::string>{"--host", "a b"}));
  EXPECT_EQ(read.environment, (std::vector<std::string>{"A=1", "B="}));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(bytes.substr(0, size), read)) << "damaged: " << size << " bytes";
  EXPECT_FALSE(decode(bytes + "x", read));
  EXPECT_FALSE(decode(encode(SpawnRequest{{std::string(SpawnRequest::kMost, 'x')}, {}}), read)) << "too long";
}

TEST(SpawnAnswer, ComesBackAsItWas) {
  SpawnAnswer read;
  ASSERT_TRUE(decode(encode(SpawnAnswer{0x700, "why"}), read));
  EXPECT_EQ(read.status, 0x700);
  EXPECT_EQ(read.why, "why");
  EXPECT_FALSE(decode("", read));
}

TEST(LaunchNote, ComesBackAsItWas) {
  const std::string bytes = encode(LaunchNote{2, 19, 3});
  LaunchNote read;
  ASSERT_TRUE(decode(bytes, read));
  EXPECT_EQ(read.launch, 2);
  EXPECT_EQ(read.first, 19);
  EXPECT_EQ(read.size, 3);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size), read));
}

// Ranks that join a job of one process go to workers without ranks first, then to all in turn.
TEST(Job, GivesRanksThatJoinAHome) {
  Job job;
  job.apps.push_back({"/bin/a", {}, {}, "", 2});
  job.processes = {{0, 2, false}};
  job.nodes = {{"", 0, 1}};
  job.cores = {0, 1, 2, 3};
  EXPECT_EQ(job.workers(job.here()), 4);
  EXPECT_EQ(job.worker_of(0), 0);
  EXPECT_EQ(job.worker_of(1), 2);
  std::vector<int> homes;
  for (int rank = 2; rank < 8; ++rank) homes.push_back(job.worker_of(rank));
  EXPECT_EQ(homes, (std::vector<int>{1, 3, 0, 2, 1, 3}));
  EXPECT_EQ(job.places_for_ranks(), 2 + kMostJoining + kMostOfOthers);
  EXPECT_TRUE(job.has_room_to_join());
  job.processes.front().plain = true;
  EXPECT_FALSE(job.has_room_to_join());
  EXPECT_EQ(job.places_for_ranks() - job.first_of_others(), kMostOfOthers);
  job.seed = 1;
  EXPECT_EQ(job.places_for_ranks(), 2);
}

TEST(Failure, RefusesEveryCut) {
  const std::string bytes = encode(Failure{1, Reason::kExited, 3, "text", {{"/bin/a", 1}}});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    Failure read;
    EXPECT_FALSE(decode(bytes.substr(0, cut), read)) << cut;
  }
}

}  // namespace
}  // namespace clump::pmi
