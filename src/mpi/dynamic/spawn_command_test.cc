#include "mpi/dynamic/spawn_command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/test_failure.h"
#include "base/variables.h"

namespace clump::mpi {
namespace {

namespace files = std::filesystem;
using Entries = std::initializer_list<std::pair<std::string_view, std::string>>;

/// A folder with programs, and a rank that spawns them.
class SpawnCommand : public testing::Test {
 protected:
  SpawnCommand() : folder_(testing::TempDir() + "spawn_command_XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    made_.environment = {"PATH=" + folder_ + "/bin", "A=1", "AB=2"};
    for (const char* const name : {"bin", "other"}) files::create_directory(folder_ + "/" + name);
    add_program("bin/run");
    add_program("other/run");
    add_program("here");
    std::ofstream(folder_ + "/bin/data") << "no program";
  }
  ~SpawnCommand() override { files::remove_all(folder_); }

  void add_program(const std::string& name) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ::chmod((folder_ + "/" + name).c_str(), 0755);
  }
  MPI_Info info(Entries entries) {
    auto made = std::make_unique<core::Info>();
    for (const auto& [key, value] : entries) made->set(key, value);
    return rank_.add(std::move(made));
  }
  base::Failure prepare(const Asked& asked) {
    return base::failure(prepare_command(rank_, asked, room_, made_));
  }
  base::Failure prepare(const char* command, int maxprocs = 1, Entries entries = {}) {
    return prepare({command, nullptr, maxprocs, entries.size() == 0 ? MPI_INFO_NULL : info(entries)});
  }
  /// How many ranks `soft` has started of `maxprocs`; -1: none, and why_ has the reason.
  int soft(const std::string& numbers, int maxprocs = 10) {
    room_ = 100;
    why_ = prepare("run", maxprocs, {{"soft", numbers}});
    EXPECT_EQ(100 - room_, why_ == base::kNoFailure ? made_.ranks : 0) << "what is left for others";
    return why_ == base::kNoFailure ? made_.ranks : -1;
  }
  std::string in_environment(std::string_view name) { return base::text_in(made_.environment, name); }

  std::string folder_;
  core::World world_;
  core::Rank rank_{world_, world_.launch, 0};
  int room_ = 100;
  Command made_;
  base::Failure why_;
};

TEST_F(SpawnCommand, IsFoundInPath) {
  EXPECT_EQ(prepare("run", 3), base::kNoFailure);
  EXPECT_EQ(made_.path, folder_ + "/bin/run");
  EXPECT_EQ(made_.ranks, 3);
  EXPECT_EQ(made_.arguments, std::vector<std::string>{"run"});
  EXPECT_EQ(made_.working_directory, files::current_path().string());
  EXPECT_EQ(room_, 97);
}

TEST_F(SpawnCommand, IsFoundInTheFoldersOfTheKeyFirst) {
  EXPECT_EQ(prepare("run", 1, {{"path", "/nowhere:" + folder_ + "/other"}}), base::kNoFailure);
  EXPECT_EQ(made_.path, folder_ + "/other/run");
  EXPECT_EQ(prepare("run", 1, {{"path", "other"}, {"wdir", folder_}}), base::kNoFailure)
      << "as the new ranks see it";
  EXPECT_EQ(made_.path, folder_ + "/other/run");
}

TEST_F(SpawnCommand, WithASlashIsNotLookedFor) {
  EXPECT_EQ(prepare((folder_ + "/here").c_str()), base::kNoFailure);
  EXPECT_EQ(made_.path, folder_ + "/here");
  EXPECT_EQ(prepare("./here", 1, {{"wdir", folder_}}), base::kNoFailure);
  EXPECT_EQ(made_.path, folder_ + "/here");
  const std::string here = files::current_path().string();
  EXPECT_EQ(prepare("./run"), (base::Failure{MPI_ERR_SPAWN,
                                             "(command = \"./run\"): there is no such program that may "
                                             "be executed, seen from " +
                                                 here}));
  EXPECT_EQ(prepare("./run", 1, {{"wdir", folder_}}),
            (base::Failure{MPI_ERR_SPAWN,
                           "(command = \"./run\"): there is no such program that may be executed, seen "
                           "from " +
                               here + " or " + folder_}));
}

TEST_F(SpawnCommand, HasToBeExecutable) {
  const auto missing = [](const std::string& name) {
    return base::Failure{MPI_ERR_SPAWN, "(command = \"" + name +
                                            "\"): there is no such program in the folders of PATH "
                                            "and of the info key path"};
  };
  EXPECT_EQ(prepare("data"), missing("data"));
  EXPECT_EQ(prepare("nothing"), missing("nothing"));
  files::create_directory(folder_ + "/bin/folder");
  EXPECT_EQ(prepare("folder"), missing("folder"));
}

TEST_F(SpawnCommand, GetsItsArguments) {
  std::string one = "one", empty;
  char* arguments[] = {one.data(), empty.data(), nullptr};
  EXPECT_EQ(prepare({"run", arguments, 1}), base::kNoFailure);
  EXPECT_EQ(made_.arguments, (std::vector<std::string>{"run", "one", ""}));
}

TEST_F(SpawnCommand, NamesTheWrongArgument) {
  EXPECT_EQ(prepare(nullptr), (base::Failure{MPI_ERR_ARG, "(command = NULL): it is the name of a program"}));
  EXPECT_EQ(prepare("run", 0),
            (base::Failure{MPI_ERR_ARG, "(maxprocs = 0): at least one rank has to be started"}));
  EXPECT_EQ(prepare({"run", nullptr, -2, MPI_INFO_NULL, 4}),
            (base::Failure{MPI_ERR_ARG, "(array_of_maxprocs[4] = -2): at least one rank has to be started"}));
  EXPECT_EQ(prepare({nullptr, nullptr, 1, MPI_INFO_NULL, 0}),
            (base::Failure{MPI_ERR_ARG, "(array_of_commands[0] = NULL): it is the name of a program"}));
  const MPI_Info freed = info({});
  rank_.remove(freed);
  EXPECT_EQ(prepare({"run", nullptr, 1, freed}),
            (base::Failure{MPI_ERR_INFO, "(info): it is no info object"}));
}

TEST_F(SpawnCommand, HasNoMoreRanksThanThereIsRoomFor) {
  room_ = 4;
  EXPECT_EQ(prepare("run", 5),
            (base::Failure{MPI_ERR_SPAWN, "(maxprocs = 5): only 4 more ranks can be started in this job"}));
  EXPECT_EQ(room_, 4);
  EXPECT_EQ(prepare("run", 4), base::kNoFailure);
  EXPECT_EQ(room_, 0);
}

TEST_F(SpawnCommand, HasTheLargestNumberThatSoftAllows) {
  EXPECT_EQ(soft("4"), 4);
  EXPECT_EQ(soft("1,3,7,20"), 7);
  EXPECT_EQ(soft("2:8"), 8);
  EXPECT_EQ(soft("2:8:4"), 6);
  EXPECT_EQ(soft("3:100:3"), 9);
  EXPECT_EQ(soft("8:2:-4"), 8);
  EXPECT_EQ(soft("15:1:-4"), 7);
  EXPECT_EQ(soft("-5:3"), 3);
  EXPECT_EQ(soft("12,2:3"), 3);
  EXPECT_EQ(soft("10"), 10);
  EXPECT_EQ(soft("0:10"), 10);
}

TEST_F(SpawnCommand, TakesRangesOfAnyLength) {
  EXPECT_EQ(soft("0:2147483647"), 10);
  EXPECT_EQ(soft("2147483647:-2147483648:-1"), 10);
  EXPECT_EQ(soft("-2147483648:2147483647:2147483647"), -1) << "-2147483648, -1 and 2147483646";
  EXPECT_EQ(soft("-2147483647:2147483647:1073741825"), 3) << "-2147483647, -1073741822, 3, ...";
}

TEST_F(SpawnCommand, IsNotStartedWithANumberThatSoftForbids) {
  for (const char* const text : {"11", "0", "-3", "11:20", "5:2", "2:5:-1", ","})
    EXPECT_EQ(soft(text), -1) << text;
  EXPECT_EQ(soft("11"), -1);
  EXPECT_EQ(why_, (base::Failure{MPI_ERR_SPAWN,
                                 "(maxprocs = 10): soft = \"11\" allows no number of ranks that can be "
                                 "started; room is for 100"}));
}

TEST_F(SpawnCommand, TakesOnlyListsOfNumbersForSoft) {
  for (const char* const text :
       {"x", "3x", "1:2:3:4", "1:5:0", "1::5", ":5", "5:", "1:5:", "3000000000", "1, 2"}) {
    EXPECT_EQ(soft(text), -1) << text;
    EXPECT_EQ(why_, (base::Failure{MPI_ERR_INFO_VALUE, std::string("(info): soft = \"") + text +
                                                           "\" is no list of numbers and triplets a:b:c"}));
  }
}

TEST_F(SpawnCommand, RunsWhereTheKeysSay) {
  utsname machine{};
  ::uname(&machine);
  const std::string own = machine.nodename;
  EXPECT_EQ(prepare("run", 1, {{"host", "localhost"}}), base::kNoFailure);
  EXPECT_FALSE(made_.is_elsewhere);
  EXPECT_EQ(prepare("run", 1, {{"host", own + ":2,127.0.0.1"}, {"arch", machine.machine}}), base::kNoFailure);
  EXPECT_FALSE(made_.is_elsewhere);
  EXPECT_EQ(prepare("run", 1, {{"host", own + ",elsewhere:3,more"}}), base::kNoFailure);
  EXPECT_TRUE(made_.is_elsewhere);
  EXPECT_EQ(made_.hosts, own + ",elsewhere:3,more");
  EXPECT_EQ(first_host_elsewhere(made_), "elsewhere");
  EXPECT_EQ(prepare("run", 1, {{"host", "fd00::7"}}), base::kNoFailure);
  EXPECT_EQ(first_host_elsewhere(made_), "fd00::7");
}

TEST_F(SpawnCommand, RunsOnTheHostsOfAFile) {
  const std::string path = folder_ + "/hosts";
  std::ofstream(path) << "# all\n\nlocalhost slots=2\n  elsewhere:4 # more\n";
  EXPECT_EQ(prepare("run", 1, {{"hostfile", path}}), base::kNoFailure);
  EXPECT_EQ(made_.host_file, path);
  EXPECT_EQ(first_host_elsewhere(made_), "elsewhere");
  EXPECT_EQ(prepare("run", 1, {{"hostfile", folder_ + "/none"}}),
            (base::Failure{MPI_ERR_SPAWN, "(info): hostfile = \"" + folder_ + "/none\": " + folder_ +
                                              "/none: No such file or directory"}));
}

TEST_F(SpawnCommand, DoesNotTakeWhatIsNotThere) {
  utsname machine{};
  ::uname(&machine);
  EXPECT_EQ(prepare("run", 1, {{"arch", "pdp11"}}),
            (base::Failure{MPI_ERR_SPAWN,
                           std::string("(info): arch = \"pdp11\": this machine is ") + machine.machine}));
  EXPECT_EQ(prepare("run", 1, {{"file", "all"}}).error_class, MPI_ERR_UNSUPPORTED_OPERATION);
}

TEST_F(SpawnCommand, BeginsInTheFolderOfTheKey) {
  EXPECT_EQ(prepare("run", 1, {{"wdir", folder_ + "/bin/.."}}), base::kNoFailure);
  EXPECT_EQ(files::path(made_.working_directory), files::path(folder_ + "/"));
  EXPECT_EQ(prepare("run", 1, {{"wdir", "/nowhere"}}),
            (base::Failure{MPI_ERR_SPAWN, "(info): wdir = \"/nowhere\" is no folder"}));
}

TEST_F(SpawnCommand, HasTheVariablesOfTheKey) {
  EXPECT_EQ(prepare("run", 1, {{"env", "A=9\nNEW=x=y\n\nEMPTY="}}), base::kNoFailure);
  EXPECT_EQ(in_environment("A"), "9");
  EXPECT_EQ(in_environment("AB"), "2") << "a longer name is another variable";
  EXPECT_EQ(in_environment("NEW"), "x=y");
  EXPECT_EQ(std::ranges::count(made_.environment, "EMPTY="), 1);
  EXPECT_EQ(made_.environment.size(), 5u) << "A has been replaced";
  for (const char* const line : {"NAME", "=value"})
    EXPECT_EQ(prepare("run", 1, {{"env", line}}),
              (base::Failure{MPI_ERR_INFO_VALUE, std::string("(info): env has the line \"") + line +
                                                     "\", which is no NAME=value"}));
}

TEST_F(SpawnCommand, BeginsWithTheErrorHandlerOfTheKey) {
  made_.environment.emplace_back("CLUMP_INITIAL_ERRHANDLER=mpi_errors_abort");
  EXPECT_EQ(prepare("run", 1, {{"mpi_initial_errhandler", "mpi_errors_return"}}), base::kNoFailure);
  EXPECT_EQ(std::ranges::count(made_.environment, "CLUMP_INITIAL_ERRHANDLER=mpi_errors_return"), 1);
  EXPECT_EQ(made_.environment.size(), 4u) << "the caller's is replaced";
  EXPECT_EQ(prepare("run", 1, {{"mpi_initial_errhandler", "none"}}),
            (base::Failure{MPI_ERR_INFO_VALUE,
                           "(info): mpi_initial_errhandler = \"none\": there are "
                           "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return"}));
}

}  // namespace
}  // namespace clump::mpi
