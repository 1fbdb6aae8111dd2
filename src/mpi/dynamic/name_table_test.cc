#include "mpi/dynamic/name_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/test_failure.h"
#include "net/link/link_channel.h"
#include "net/link/public_name.h"

namespace clump::mpi {
namespace {

NameOutcome publish(NameTable& table, std::string_view service, std::string port) {
  return table.serve(nullptr, NameCall::kPublish, false, service, port);
}

/// The port that a name has; empty: none.
std::string look_up(NameTable& table, std::string_view service) {
  std::string port;
  const NameOutcome outcome = table.serve(nullptr, NameCall::kLookUp, false, service, port);
  EXPECT_EQ(outcome, port.empty() ? NameOutcome::kUnknown : NameOutcome::kDone);
  return port;
}

NameOutcome unpublish(NameTable& table, std::string_view service, std::string port) {
  return table.serve(nullptr, NameCall::kUnpublish, false, service, port);
}

TEST(NameTable, KeepsANameUntilItIsTakenBack) {
  NameTable table;
  EXPECT_EQ(look_up(table, "a"), "");
  EXPECT_EQ(publish(table, "a", "port 1"), NameOutcome::kDone);
  EXPECT_EQ(publish(table, "b", "port 1"), NameOutcome::kDone) << "a port may have several names";
  EXPECT_EQ(look_up(table, "a"), "port 1");
  EXPECT_EQ(unpublish(table, "a", "port 1"), NameOutcome::kDone);
  EXPECT_EQ(look_up(table, "a"), "");
  EXPECT_EQ(look_up(table, "b"), "port 1");
  EXPECT_EQ(publish(table, "a", "port 2"), NameOutcome::kDone);
  EXPECT_EQ(look_up(table, "a"), "port 2");
}

TEST(NameTable, GivesANameOnce) {
  NameTable table;
  EXPECT_EQ(publish(table, "a", "port 1"), NameOutcome::kDone);
  EXPECT_EQ(publish(table, "a", "port 1"), NameOutcome::kIsThere);
  EXPECT_EQ(publish(table, "a", "port 2"), NameOutcome::kIsThere);
  EXPECT_EQ(look_up(table, "a"), "port 1");
  EXPECT_EQ(publish(table, "a ", "port 2"), NameOutcome::kDone) << "another name";
}

TEST(NameTable, TakesBackWhatWasPublishedForThisPort) {
  NameTable table;
  EXPECT_EQ(unpublish(table, "a", "port 1"), NameOutcome::kUnknown);
  ASSERT_EQ(publish(table, "a", "port 1"), NameOutcome::kDone);
  EXPECT_EQ(unpublish(table, "a", "port 2"), NameOutcome::kOtherPort);
  EXPECT_EQ(look_up(table, "a"), "port 1");
}

/// A job that others can connect to.
class LinkedJob {
 public:
  LinkedJob() {
    net::LinkChannel::Setup setup;
    setup.job = {.id = 1, .token = 2};
    setup.first_place = 1;
    setup.places = 1;
    link = new net::LinkChannel(std::move(setup));  // its thread never ends
  }
  net::LinkChannel* link;
  NameTable table;
};

NameOutcome show(LinkedJob& job, std::string_view service, std::string port) {
  return job.table.serve(job.link, NameCall::kShow, true, service, port);
}

TEST(NameTable, KnowsWhatOtherHostsHaveToHide) {
  NameTable table;
  std::string port = "port 1";
  EXPECT_EQ(table.serve(nullptr, NameCall::kPublish, true, "a", port), NameOutcome::kDone);
  EXPECT_EQ(look_up(table, "a"), "port 1");
  EXPECT_EQ(unpublish(table, "a", "port 2"), NameOutcome::kOtherPort);
  EXPECT_EQ(unpublish(table, "a", "port 1"), NameOutcome::kWasPublic);
  EXPECT_EQ(unpublish(table, "a", "port 1"), NameOutcome::kUnknown);
}

TEST(NameTable, ShowsToAllJobs) {
  const std::string name = "unit test of name_table, process " + std::to_string(::getpid());
  LinkedJob one, other;
  std::string holder;
  EXPECT_EQ(show(one, name, "port 1"), NameOutcome::kDone);
  EXPECT_EQ(net::link::find_public_name(name, holder), "port 1");

  std::string text = "port 2";
  EXPECT_EQ(other.table.serve(other.link, NameCall::kShow, true, name, text), NameOutcome::kIsNotPublic);
  EXPECT_EQ(text, "another job on this machine has published it: take another name");

  std::string none;
  EXPECT_EQ(other.table.serve(other.link, NameCall::kHide, false, name, none), NameOutcome::kDone);
  EXPECT_EQ(net::link::find_public_name(name, holder), "port 1") << "it is another job's";
  EXPECT_EQ(one.table.serve(one.link, NameCall::kHide, false, name, none), NameOutcome::kDone);
  EXPECT_EQ(net::link::find_public_name(name, holder), "");
  EXPECT_EQ(show(other, name, "port 2"), NameOutcome::kDone);
  EXPECT_EQ(net::link::find_public_name(name, holder), "port 2");
  EXPECT_EQ(other.table.serve(other.link, NameCall::kHide, false, name, none), NameOutcome::kDone);
}

TEST(NameTable, TellsWhichAnswersHaveATextBehindThem) {
  EXPECT_TRUE(has_text(NameCall::kLookUp, NameOutcome::kDone));
  EXPECT_TRUE(has_text(NameCall::kPublish, NameOutcome::kIsNotPublic));
  EXPECT_FALSE(has_text(NameCall::kPublish, NameOutcome::kDone));
  EXPECT_FALSE(has_text(NameCall::kUnpublish, NameOutcome::kDone));
  EXPECT_FALSE(has_text(NameCall::kLookUp, NameOutcome::kUnknown));
}

base::Failure outcome_of_name(const std::string& name) {
  std::string_view service;
  const base::Failure failure = base::failure(read_service_name(name.c_str(), MPI_ERR_SERVICE, service));
  EXPECT_TRUE(failure != base::kNoFailure || service == name);
  return failure;
}

TEST(ServiceName, IsAsLongAsAQuestionHasRoom) {
  EXPECT_EQ(outcome_of_name("a"), base::kNoFailure);
  EXPECT_EQ(outcome_of_name(std::string(kMostServiceName, 'x')), base::kNoFailure);
  EXPECT_EQ(sizeof(NameRequest) + kMostServiceName + MPI_MAX_PORT_NAME, kMostAsked);
  const std::string most = std::to_string(kMostServiceName);
  EXPECT_EQ(outcome_of_name(std::string(kMostServiceName + 1, 'x')),
            (base::Failure{MPI_ERR_SERVICE,
                           "(service_name): it has more characters; 1 to " + most + " are allowed"}));
  EXPECT_EQ(outcome_of_name(""),
            (base::Failure{MPI_ERR_SERVICE,
                           "(service_name): it has no characters; 1 to " + most + " are allowed"}));
}

}  // namespace
}  // namespace clump::mpi
