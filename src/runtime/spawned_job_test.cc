#include "runtime/spawned_job.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace clump {
namespace {

using Words = std::vector<std::string>;

mpi::Command command(const std::string& path, Words arguments, Words environment, int ranks = 1) {
  arguments.insert(arguments.begin(), "argv0");
  return {path, arguments, environment, "/work dir", ranks};
}

/// Behind those that are the same for all.
Words words_of(const std::vector<mpi::Command>& commands) {
  pmi::Job job;
  job.universe = 16;
  Words words = mpiexec_words(job, commands);
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

/// Where programs run, in a job of five ranks on the hosts a and b, the caller's.
class SpawnedJobPlaces : public testing::Test {
 protected:
  SpawnedJobPlaces() {
    job_.apps = {{.ranks = 5}};
    job_.processes = {{0, 2}, {2, 3}};
    job_.nodes = {{"a", 0, 1}, {"b", 1, 1}};
    job_.node = 1;
    job_.launch_words = {"--launcher", "ssh"};
    job_.has_proxies = true;
  }
  static mpi::Command on(const std::string& hosts, bool is_elsewhere = true) {
    mpi::Command made = command("/bin/a", {}, {});
    made.hosts = hosts;
    made.is_elsewhere = is_elsewhere;
    return made;
  }
  /// The words before the programs, and those of each program that say where it runs.
  Words places(const std::vector<mpi::Command>& commands) {
    Words found;
    const Words all = mpiexec_words(job_, commands);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] == "--host" || all[i] == "--hostfile" || all[i] == "--launcher")
        found.insert(found.end(), {all[i], all[i + 1]}), ++i;
      else if (all[i] == "--usize" || all[i] == ":")
        found.push_back(all[i]);
    return found;
  }
  pmi::Job job_;
};

TEST_F(SpawnedJobPlaces, AreThoseOfTheParents) {
  const mpi::Command one = command("/bin/a", {}, {});
  EXPECT_EQ(places({one, one}), (Words{"--launcher", "ssh", "--host", "b:3,a:2", "--usize", ":"}));
  job_.nodes.pop_back();
  job_.processes = {{0, 5}};
  job_.node = 0;
  EXPECT_EQ(places({one}), (Words{"--launcher", "ssh", "--host", "a:5", "--usize"}))
      << "mpiexec may be elsewhere";
  job_.has_proxies = false;
  EXPECT_EQ(places({one}), (Words{"--usize"}));
}

TEST_F(SpawnedJobPlaces, AreNamed) {
  EXPECT_EQ(places({on("c,b:4"), on("c,b:4")}),
            (Words{"--launcher", "ssh", "--host", "c,b:4", "--usize", ":"}));
  mpi::Command file = command("/bin/a", {}, {});
  file.host_file = "/tmp/hosts";
  EXPECT_EQ(places({file}), (Words{"--launcher", "ssh", "--hostfile", "/tmp/hosts", "--usize"}));
  EXPECT_EQ(places({on("c"), file, command("/bin/a", {}, {})}),
            (Words{"--launcher", "ssh", "--usize", "--host", "c", ":", "--hostfile", "/tmp/hosts", ":",
                   "--host", "b:3,a:2"}));
  job_.has_proxies = false;
  job_.nodes = {{"", 0, 2}};
  job_.node = 0;
  EXPECT_EQ(places({on("c"), command("/bin/a", {}, {})}),
            (Words{"--launcher", "ssh", "--usize", "--host", "c", ":", "--host", "localhost:5"}));
}

TEST_F(SpawnedJobPlaces, AreNamedAsSeenFromTheCaller) {
  for (const auto& [hosts, named] : {std::pair{"localhost", "b"},
                                     {"c,localhost:2,127.0.0.1", "c,b:2,b"},
                                     {"localhost2,c", "localhost2,c"}})
    EXPECT_EQ(places({on(hosts, false)}), (Words{"--launcher", "ssh", "--host", named, "--usize"}));
  job_.has_proxies = false;
  EXPECT_EQ(places({on("localhost,c")}), (Words{"--launcher", "ssh", "--host", "localhost,c", "--usize"}));
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
