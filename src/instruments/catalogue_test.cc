#include "instruments/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace clump::instruments {
namespace {

/// What the standard asks of names (MPI-5.0 sections 15.3.6 and 15.3.7), and `clump info` of descriptions.
template <typename Entries>
void expect_names_once(const Entries& entries) {
  std::set<std::string> names;
  for (const auto& entry : entries) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_EQ(entry.name, as_name(entry.name)) << "a name of an environment variable is made of it";
    EXPECT_FALSE(entry.description.empty()) << entry.name;
  }
}

TEST(Catalogue, HasEachNameOnce) {
  expect_names_once(meters());
  expect_names_once(controls());
  expect_names_once(event_kinds());
}

TEST(Catalogue, ItemsOfAnEnumerationDiffer) {
  for (const Enumeration& enumeration : enumerations()) {
    std::set<int> values;
    std::set<std::string> names;
    for (const Enumeration::Item& item : enumeration.items) {
      EXPECT_TRUE(values.insert(item.value).second) << enumeration.name << ": " << item.value;
      EXPECT_TRUE(names.insert(item.name).second) << enumeration.name << ": " << item.name;
      EXPECT_EQ(enumeration.find(item.name), &item);
    }
    EXPECT_EQ(enumeration.find(""), nullptr) << enumeration.name;
    EXPECT_EQ(enumeration.find("no such item"), nullptr) << enumeration.name;
  }
}

TEST(Catalogue, ElementsOfEventsLieAsInAStruct) {
  struct Message {
    int source, tag;
    MPI_Count bytes;
  };
  const auto kind = std::ranges::find(event_kinds(), "unexpected_message", &EventKind::name);
  ASSERT_NE(kind, event_kinds().end());
  EXPECT_EQ(kind->types, (std::vector<MPI_Datatype>{MPI_INT, MPI_INT, MPI_COUNT}));
  EXPECT_EQ(kind->displacements, (std::vector<MPI_Aint>{offsetof(Message, source), offsetof(Message, tag),
                                                        offsetof(Message, bytes)}));
}

TEST(Catalogue, NamesAreMadeOfWords) {
  EXPECT_EQ(as_name("scatter and ring"), "scatter_and_ring");
  EXPECT_EQ(as_name("two-stage"), "two_stage");
  EXPECT_EQ(as_name("Bruck"), "bruck");
  EXPECT_EQ(Control{}.environment(), "CLUMP_");
}

}  // namespace
}  // namespace clump::instruments
