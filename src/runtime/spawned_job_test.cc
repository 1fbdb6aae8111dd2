#include "runtime/spawned_job.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_failure.h"

namespace clump {
namespace {

using Words = std::vector<std::string>;

mpi::Command command(const std::string& path, Words arguments, Words environment, int ranks = 1) {
  arguments.insert(arguments.begin(), "argv0");
  return {path, arguments, environment, "/work dir", ranks};
}

/// Behind those that are the same for all.
Words words_of(const std::vector<mpi::Command>& commands) {
  Words words = mpiexec_words(commands, 16);
  EXPECT_EQ(Words(words.begin(), words.begin() + 2), (Words{"--usize", "16"}));
  words.erase(words.begin(), words.begin() + 2);
  return words;
}

TEST(SpawnedJob, IsACommandLineOfMpiexec) {
  EXPECT_EQ(words_of({command("/bin/a", {"1", "", "two words"}, {"A=1"}, 3)}),
            (Words{"-n", "3", "-wdir", "/work dir", "--argc", "4", "/bin/a", "1", "", "two words"}));
  EXPECT_EQ(words_of({command("/bin/a", {}, {}), command("/bin/b", {"-n"}, {}, 2)}),
            (Words{"-n", "1", "-wdir", "/work dir", "--argc", "1", "/bin/a", ":", "-n", "2", "-wdir",
                   "/work dir", "--argc", "2", "/bin/b", "-n"}));
}

TEST(SpawnedJob, RunsOnTheHostsOfItsParents) {
  pmi::Job job;
  job.apps = {{.ranks = 5}};
  job.processes = {{0, 2}, {2, 3}};
  job.nodes = {{"a", 0, 1}, {"b", 1, 1}};
  job.node = 1;
  job.launch_words = {"--launcher", "ssh"};
  const auto words_on = [&](const std::vector<mpi::Command>& commands) {
    Words words;
    EXPECT_EQ(base::failure(words_for_hosts(job, commands, words)), base::kNoFailure);
    return words;
  };
  mpi::Command one = command("/bin/a", {}, {});
  EXPECT_EQ(words_on({one, one}), (Words{"--launcher", "ssh", "--host", "b:3,a:2"}));
  one.hosts = "c,b:4";
  one.is_elsewhere = true;
  EXPECT_EQ(words_on({one, one}), (Words{"--launcher", "ssh", "--host", "c,b:4"}));
  job.nodes.pop_back();
  job.node = 0;
  EXPECT_EQ(words_on({one}), (Words{"--launcher", "ssh", "--host", "c,b:4"}));
  one.hosts.clear();
  one.host_file = "/tmp/hosts";
  EXPECT_EQ(words_on({one}), (Words{"--launcher", "ssh", "--hostfile", "/tmp/hosts"}));
  EXPECT_EQ(words_on({command("/bin/a", {}, {})}), Words{});
  Words words;
  EXPECT_EQ(base::failure(words_for_hosts(job, {one, command("/bin/a", {}, {})}, words)).error_class,
            MPI_ERR_UNSUPPORTED_OPERATION);
}

TEST(SpawnedJob, PassesOnWhatMpiexecIsNotStartedWith) {
  EXPECT_EQ(
      words_of({command("/bin/a", {}, {"A=1", "B=2"}), command("/bin/b", {}, {"B=2", "A=x=y", "EMPTY="})}),
      (Words{"-n",  "1",    "-wdir", "/work dir", "--argc",    "1",    "/bin/a",
             ":",   "-n",   "1",     "-wdir",     "/work dir", "-env", "A",
             "x=y", "-env", "EMPTY", "",          "--argc",    "1",    "/bin/b"}));
  EXPECT_EQ(words_of({command("/bin/a", {}, {}), command("/bin/b", {}, {"no variable"})}),
            (Words{"-n", "1", "-wdir", "/work dir", "--argc", "1", "/bin/a", ":", "-n", "1", "-wdir",
                   "/work dir", "--argc", "1", "/bin/b"}));
}

TEST(SpawnedJob, CountsArgumentsThatMpiexecWouldTakeForItsOwn) {
  EXPECT_EQ(words_of({command("/bin/a", {"x", ":", "-n"}, {})}),
            (Words{"-n", "1", "-wdir", "/work dir", "--argc", "4", "/bin/a", "x", ":", "-n"}));
}

TEST(SpawnedJob, KnowsThePortOfThoseWhoStartIt) {
  EXPECT_EQ(mpiexec_environment(
                command("/bin/a", {}, {"A=1", "CLUMP_PARENT_PORT=old", "CLUMP_PARENT_PORTS=x"}), "new"),
            (Words{"A=1", "CLUMP_PARENT_PORTS=x", "CLUMP_PARENT_PORT=new"}));
}

}  // namespace
}  // namespace clump
