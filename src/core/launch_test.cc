// Ranks of several launches in one process: numbers in the job, MPI_COMM_WORLD, process sets.
#include "core/launch.h"

#include <gtest/gtest.h>

#include "core/process_sets.h"
#include "core/rank.h"

namespace clump::core {
namespace {

class Launches : public testing::Test {
 protected:
  Launches() {
    world_.ranks.resize(10);
    world_.homes.assign(10, 0);
    world_.homes[6] = 1;
    world_.node = "here";
    world_.launch.size = 4;
    world_.launch.app_numbers.assign(4, 0);
    world_.launch.environments.resize(1);
    world_.launch.environments[0].set("command", "parent");
    spawned_ = {.number = 1, .first = 4, .size = 3, .app_numbers = {0, 1, 1}, .environments = {}};
    spawned_.environments.resize(2);
    spawned_.environments[1].set("command", "child");
  }

  std::vector<int> members(const Rank& rank, std::string_view set) {
    const auto group = process_set(rank, set, Origin::kWorld);
    return group ? group->world_ranks() : std::vector<int>();
  }

  World world_;
  Launch spawned_;
};

TEST_F(Launches, EachHasAWorldOfItsOwn) {
  const Rank parent(world_, world_.launch, 2), child(world_, spawned_, 5);
  EXPECT_EQ(parent.comm_world->size(), 4);
  EXPECT_EQ(parent.comm_world->rank, 2);
  EXPECT_EQ(child.comm_world->size(), 3);
  EXPECT_EQ(child.comm_world->rank, 1);
  EXPECT_EQ(child.comm_world->group->world_ranks(), (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(child.comm_self->group->world_ranks(), std::vector<int>{5});
  EXPECT_EQ(*child.info(MPI_INFO_ENV)->get("command"), "child");
  EXPECT_EQ(*parent.info(MPI_INFO_ENV)->get("command"), "parent");
}

TEST_F(Launches, AllMeetInOneCommunicatorByTheirNumbers) {
  const Rank parent(world_, world_.launch, 2), child(world_, spawned_, 5);
  for (const Rank* rank : {&parent, &child}) {
    EXPECT_EQ(rank->comm_job->size(), 10);
    EXPECT_EQ(rank->comm_job->rank, rank->number);
  }
}

TEST_F(Launches, ProcessSetsEndWithTheLaunch) {
  const Rank parent(world_, world_.launch, 2), child(world_, spawned_, 5);
  EXPECT_EQ(members(parent, "mpi://WORLD"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(members(child, "mpi://WORLD"), (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(members(child, "mpi://SELF"), std::vector<int>{5});
  EXPECT_EQ(members(child, "clump://app/1"), (std::vector<int>{5, 6}));
  EXPECT_EQ(members(child, "clump://worker/0"), (std::vector<int>{4, 5}));
  EXPECT_TRUE(members(child, "clump://app/0").empty());
}

}  // namespace
}  // namespace clump::core
