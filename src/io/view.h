// View: which bytes of a file a rank sees, and in which order (MPI-5.0 section 14.3).
//
// A filetype describes places in a file as a datatype describes places in memory, so a view is a layout whose
// base is the displacement: datatype::Cursor walks it, and datatype::copy() copies between it and a user's
// layout once the file's bytes are in memory.
//
// The *view bytes* are the data bytes that the view shows, numbered from 0. Everything here may be called by
// any thread; a View does not change.
#pragma once

#include <string>

#include "base/ref.h"
#include "base/status.h"
#include "datatype/cursor.h"
#include "datatype/datatype.h"
#include "io/representation.h"

namespace clump::io {

class View final : public base::RefCounted {
 public:
  /// What MPI_File_set_view is given; both types as the program knows them.
  struct Arguments {
    Count displacement = 0;
    datatype::Ref etype, filetype;
    base::Ref<const Representation> representation;
  };
  /// MPI_ERR_ARG, MPI_ERR_TYPE or MPI_ERR_UNSUPPORTED_DATAREP if they make no view.
  static base::Status make(const Arguments& arguments, base::Ref<const View>& view);

  const Arguments& arguments() const { return arguments_; }
  const Representation& representation() const { return *arguments_.representation; }
  /// Bytes of an etype in the file.
  Count etype_bytes() const { return etype_bytes_; }
  /// From the displacement on, all bytes.
  bool is_contiguous() const { return contiguous_; }
  /// Higher view bytes are at higher places of the file. False if the filetype's extent is shorter than its
  /// data: then its repetitions may lie inside of each other. HDF5 makes such filetypes, by explicit bounds.
  bool is_ordered() const { return ordered_; }
  /// A place is twice in one filetype (or etype): nothing may be written through it.
  bool overlaps() const { return overlaps_; }
  /// There are no bytes in it.
  bool is_empty() const { return type_->size() == 0; }
  /// The mean number of view bytes that lie side by side in the file.
  Count mean_block() const { return mean_block_; }

  /// Whether the places of all view bytes before `position` can be expressed as an MPI_Offset.
  bool reaches(Count position) const;
  /// Where view byte `position` is in the file. Not of empty views.
  Count offset_of(Count position) const;
  /// How many view bytes lie before byte `offset` of the file. Of ordered views.
  Count position_of(Count offset) const;
  /// The view bytes [position, position + bytes) as a layout whose first packed byte is the first one of the
  /// filetype that holds `position`; `base` is the address that stands for byte 0 of the file. `skipped` is
  /// how many packed bytes come before `position`.
  datatype::Layout layout(std::intptr_t base, Count position, Count bytes, Count& skipped) const;

  /// Calls visit(run) for runs of equal blocks (datatype::Run, addresses are places in the file) that make up
  /// the view bytes [position, position + bytes), in their order.
  template <typename Visit>
  void for_each_run(Count position, Count bytes, Visit visit) const;
  /// The same, with visit(offset, bytes) for each block. It goes on while `visit` returns true.
  template <typename Visit>
  bool for_each_block(Count position, Count bytes, Visit visit) const;

 private:
  explicit View(const Arguments& arguments) : arguments_(arguments) {}
  base::Status look_at_type(const datatype::Datatype& etype);

  Arguments arguments_;
  datatype::Ref type_;  // the filetype as it is in the file
  Count etype_bytes_ = 1;
  Count mean_block_ = 0;
  bool contiguous_ = false;
  bool ordered_ = true;
  bool overlaps_ = false;
};

template <typename Visit>
void View::for_each_run(Count position, Count bytes, Visit visit) const {
  if (bytes == 0) return;
  if (contiguous_) {
    const auto base = static_cast<std::intptr_t>(arguments_.displacement + position);
    visit(datatype::Run{.base = base, .block = bytes, .count = 1, .stride = bytes});
    return;
  }
  Count skipped = 0;
  const datatype::Layout here = layout(0, position, bytes, skipped);
  datatype::Cursor cursor(here, skipped);
  while (bytes > 0) {
    datatype::Run run = cursor.run();
    const Count whole = bytes / run.block;
    if (whole == 0) {  // the last block is cut
      run.block = bytes;
      run.count = 1;
      visit(run);
      return;
    }
    if (run.count > whole) run.count = whole;
    visit(run);
    bytes -= run.count * run.block;
    if (bytes > 0) cursor.skip_blocks(run.count);
  }
}

template <typename Visit>
bool View::for_each_block(Count position, Count bytes, Visit visit) const {
  bool goes_on = true;
  for_each_run(position, bytes, [&](const datatype::Run& run) {
    for (Count i = 0; i < run.count && goes_on; ++i)
      goes_on = visit(static_cast<Count>(run.address(i)), run.block);
  });
  return goes_on;
}

}  // namespace clump::io
