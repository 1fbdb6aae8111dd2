#include "io/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "datatype/derive.h"

namespace clump::io {
namespace {

base::Ref<const Representation> native() { return Representations().find("native"); }

datatype::Ref bytes() { return datatype::Ref(datatype::predefined(MPI_BYTE)); }

/// Blocks of `length` bytes at these places of every `extent` bytes.
datatype::Ref blocks(const std::vector<Count>& places, Count length, Count extent) {
  datatype::Made indexed, resized;
  EXPECT_TRUE(datatype::make_hindexed_block(length, places, *bytes(), indexed).ok());
  EXPECT_TRUE(datatype::make_resized(*indexed.type, 0, extent, resized).ok());
  return resized.type;
}

base::Ref<const View> view_of(Count displacement, const datatype::Ref& filetype) {
  base::Ref<const View> view;
  EXPECT_TRUE(View::make({displacement, bytes(), filetype, native()}, view).ok());
  return view;
}

TEST(View, OfAllBytesIsContiguous) {
  const auto view = view_of(7, bytes());
  EXPECT_TRUE(view->is_contiguous());
  EXPECT_EQ(view->offset_of(100), 107);
  EXPECT_EQ(view->position_of(107), 100);
  EXPECT_EQ(view->position_of(3), 0);
}

TEST(View, PositionsAndOffsetsAreEachOthersReverse) {
  const std::vector<Count> places = {3, 10, 12, 40};
  const auto view = view_of(5, blocks(places, 2, 50));
  EXPECT_FALSE(view->is_contiguous());
  std::vector<Count> naive;
  for (Count tile = 0; tile < 4; ++tile)
    for (const Count place : places)
      for (Count b = 0; b < 2; ++b) naive.push_back(5 + tile * 50 + place + b);
  for (std::size_t i = 0; i < naive.size(); ++i) EXPECT_EQ(view->offset_of(static_cast<Count>(i)), naive[i]);
  for (Count offset = 0; offset < 200; ++offset) {
    const auto before = std::ranges::count_if(naive, [&](Count at) { return at < offset; });
    EXPECT_EQ(view->position_of(offset), before) << offset;
  }
}

TEST(View, BlocksOfAnyPartAreThatPart) {
  const std::vector<Count> places = {0, 8, 9, 30};
  const auto view = view_of(1, blocks(places, 1, 33));
  for (Count first = 0; first < 12; ++first)
    for (Count count = 0; count < 12; ++count) {
      Count at = first;
      view->for_each_block(first, count, [&](Count offset, Count length) {
        for (Count b = 0; b < length; ++b, ++at) EXPECT_EQ(offset + b, view->offset_of(at));
        return true;
      });
      EXPECT_EQ(at, first + count);
    }
}

TEST(View, RefusesTypesThatGoBackwards) {
  base::Ref<const View> view;
  const auto outcome = View::make({0, bytes(), blocks({8, 0}, 2, 20), native()}, view);
  EXPECT_EQ(outcome.error_class(), MPI_ERR_IO);
  EXPECT_FALSE(view);
}

TEST(View, OfOverlappingBytesIsNotOrdered) {
  EXPECT_TRUE(view_of(0, blocks({0, 8}, 2, 20))->is_ordered());
  EXPECT_FALSE(view_of(0, blocks({0, 1}, 2, 20))->is_ordered());
  EXPECT_TRUE(view_of(0, blocks({0, 1}, 2, 20))->overlaps());
  EXPECT_FALSE(view_of(0, blocks({0, 30}, 2, 20))->is_ordered());  // of two filetypes, or of many
  EXPECT_FALSE(view_of(0, blocks({0, 30}, 2, 20))->overlaps());
}

TEST(View, KnowsWhereOffsetsEnd) {
  const auto view = view_of(0, blocks({0}, 1, Count{1} << 40));
  EXPECT_TRUE(view->reaches(1000));
  EXPECT_FALSE(view->reaches(Count{1} << 30));
}

}  // namespace
}  // namespace clump::io
