// Files: reading and writing in all forms (MPI-5.0 section 14.4).
#include "core/rank.h"
#include "io/file.h"
#include "mpi/bodies.h"
#include "mpi/layout.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using datatype::Datatype;
using io::Direction;
using io::File;
using io::Operands;
using io::Place;

constexpr Place kIndividual{Place::Pointer::kIndividual};
constexpr Place kShared{Place::Pointer::kShared};
constexpr Place kInOrder{Place::Pointer::kOrdered};
constexpr Place at(MPI_Offset offset) { return {Place::Pointer::kExplicit, offset}; }

Operands reading(Place place, void* buf, Count count, const Datatype& datatype) {
  return {Direction::kRead, place, layout(buf, count, datatype)};
}

Operands writing(Place place, const void* buf, Count count, const Datatype& datatype) {
  return {Direction::kWrite, place, layout(buf, count, datatype)};
}

/// What the program's status gets, whether the access has succeeded or not.
Status told(MPI_Status* status, const core::Result& result, Status outcome) {
  core::write_status(status, result, false);
  return outcome;
}

Status access(core::File& fh, const Operands& operands, MPI_Status* status) {
  core::Result result;
  const Status outcome = File::of(fh).access(operands, result);
  return told(status, result, outcome);
}

Status access_together(core::File& fh, const Operands& operands, MPI_Status* status) {
  core::Result result;
  const Status outcome = File::of(fh).access_together(operands, result);
  return told(status, result, outcome);
}

Status access_in_order(core::File& fh, const Operands& operands, MPI_Status* status) {
  core::Result result;
  const Status outcome = File::of(fh).access_in_order(operands, result);
  return told(status, result, outcome);
}

Status end_split(core::File& fh, const char* call, MPI_Status* status) {
  core::Result result;
  const Status outcome = File::of(fh).end_split(call, result);
  return told(status, result, outcome);
}

}  // namespace

// Reading.

Status file_read_at(Rank&, core::File& fh, MPI_Offset offset, void* buf, Count count,
                    const Datatype& datatype, MPI_Status* status) {
  return access(fh, reading(at(offset), buf, count, datatype), status);
}

Status file_iread_at(Rank&, core::File& fh, MPI_Offset offset, void* buf, Count count,
                     const Datatype& datatype, MPI_Request* request) {
  return File::of(fh).begin_access(reading(at(offset), buf, count, datatype), request);
}

Status file_read(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                 MPI_Status* status) {
  return access(fh, reading(kIndividual, buf, count, datatype), status);
}

Status file_iread(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                  MPI_Request* request) {
  return File::of(fh).begin_access(reading(kIndividual, buf, count, datatype), request);
}

Status file_read_shared(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                        MPI_Status* status) {
  return access(fh, reading(kShared, buf, count, datatype), status);
}

Status file_iread_shared(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                         MPI_Request* request) {
  return File::of(fh).begin_access(reading(kShared, buf, count, datatype), request);
}

Status file_read_at_all(Rank&, core::File& fh, MPI_Offset offset, void* buf, Count count,
                        const Datatype& datatype, MPI_Status* status) {
  return access_together(fh, reading(at(offset), buf, count, datatype), status);
}

Status file_iread_at_all(Rank&, core::File& fh, MPI_Offset offset, void* buf, Count count,
                         const Datatype& datatype, MPI_Request* request) {
  return File::of(fh).begin_access_together(reading(at(offset), buf, count, datatype), request);
}

Status file_read_at_all_begin(Rank&, core::File& fh, MPI_Offset offset, void* buf, Count count,
                              const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_read_at_all", reading(at(offset), buf, count, datatype), false);
}

Status file_read_at_all_end(Rank&, core::File& fh, void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_read_at_all", status);
}

Status file_read_all(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                     MPI_Status* status) {
  return access_together(fh, reading(kIndividual, buf, count, datatype), status);
}

Status file_iread_all(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                      MPI_Request* request) {
  return File::of(fh).begin_access_together(reading(kIndividual, buf, count, datatype), request);
}

Status file_read_all_begin(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_read_all", reading(kIndividual, buf, count, datatype), false);
}

Status file_read_all_end(Rank&, core::File& fh, void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_read_all", status);
}

Status file_read_ordered(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype,
                         MPI_Status* status) {
  return access_in_order(fh, reading(kInOrder, buf, count, datatype), status);
}

Status file_read_ordered_begin(Rank&, core::File& fh, void* buf, Count count, const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_read_ordered", reading(kInOrder, buf, count, datatype), true);
}

Status file_read_ordered_end(Rank&, core::File& fh, void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_read_ordered", status);
}

// Writing.

Status file_write_at(Rank&, core::File& fh, MPI_Offset offset, const void* buf, Count count,
                     const Datatype& datatype, MPI_Status* status) {
  return access(fh, writing(at(offset), buf, count, datatype), status);
}

Status file_iwrite_at(Rank&, core::File& fh, MPI_Offset offset, const void* buf, Count count,
                      const Datatype& datatype, MPI_Request* request) {
  return File::of(fh).begin_access(writing(at(offset), buf, count, datatype), request);
}

Status file_write(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                  MPI_Status* status) {
  return access(fh, writing(kIndividual, buf, count, datatype), status);
}

Status file_iwrite(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                   MPI_Request* request) {
  return File::of(fh).begin_access(writing(kIndividual, buf, count, datatype), request);
}

Status file_write_shared(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                         MPI_Status* status) {
  return access(fh, writing(kShared, buf, count, datatype), status);
}

Status file_iwrite_shared(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                          MPI_Request* request) {
  return File::of(fh).begin_access(writing(kShared, buf, count, datatype), request);
}

Status file_write_at_all(Rank&, core::File& fh, MPI_Offset offset, const void* buf, Count count,
                         const Datatype& datatype, MPI_Status* status) {
  return access_together(fh, writing(at(offset), buf, count, datatype), status);
}

Status file_iwrite_at_all(Rank&, core::File& fh, MPI_Offset offset, const void* buf, Count count,
                          const Datatype& datatype, MPI_Request* request) {
  return File::of(fh).begin_access_together(writing(at(offset), buf, count, datatype), request);
}

Status file_write_at_all_begin(Rank&, core::File& fh, MPI_Offset offset, const void* buf, Count count,
                               const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_write_at_all", writing(at(offset), buf, count, datatype), false);
}

Status file_write_at_all_end(Rank&, core::File& fh, const void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_write_at_all", status);
}

Status file_write_all(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                      MPI_Status* status) {
  return access_together(fh, writing(kIndividual, buf, count, datatype), status);
}

Status file_iwrite_all(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                       MPI_Request* request) {
  return File::of(fh).begin_access_together(writing(kIndividual, buf, count, datatype), request);
}

Status file_write_all_begin(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_write_all", writing(kIndividual, buf, count, datatype), false);
}

Status file_write_all_end(Rank&, core::File& fh, const void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_write_all", status);
}

Status file_write_ordered(Rank&, core::File& fh, const void* buf, Count count, const Datatype& datatype,
                          MPI_Status* status) {
  return access_in_order(fh, writing(kInOrder, buf, count, datatype), status);
}

Status file_write_ordered_begin(Rank&, core::File& fh, const void* buf, Count count,
                                const Datatype& datatype) {
  return File::of(fh).begin_split("MPI_File_write_ordered", writing(kInOrder, buf, count, datatype), true);
}

Status file_write_ordered_end(Rank&, core::File& fh, const void*, MPI_Status* status) {
  return end_split(fh, "MPI_File_write_ordered", status);
}

}  // namespace clump::mpi
