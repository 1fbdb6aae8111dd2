// Files: views, pointers, data representations (MPI-5.0 sections 14.3, 14.4.3, 14.4.4 and 14.5).
#include <cstring>
#include <string>
#include <utility>

#include "core/rank.h"
#include "io/file.h"
#include "mpi/bodies.h"

namespace clump::mpi {

namespace {

using base::Status;
using io::File;
using io::Representation;
using io::Representations;
using io::View;

/// A handle that the program may free: of a predefined type the type itself, of others a new one.
MPI_Datatype give_out(core::Rank& self, const datatype::Ref& type) {
  return type->is_predefined() ? core::handle_of<MPI_Datatype>(type->handle_value()) : self.add(type);
}

Status representation_of(core::Rank& self, const char* name,
                         base::Ref<const Representation>& representation) {
  if (strnlen(name, MPI_MAX_DATAREP_STRING) == MPI_MAX_DATAREP_STRING)
    return base::fail(MPI_ERR_ARG, "(datarep): it has {} characters or more (MPI_MAX_DATAREP_STRING)",
                      MPI_MAX_DATAREP_STRING);
  representation = Representations::of(self).find(name);
  if (representation) return {};
  return base::fail(MPI_ERR_UNSUPPORTED_DATAREP,
                    "(datarep = \"{}\"): there are \"native\", \"internal\", \"external32\", and what "
                    "MPI_Register_datarep has "
                    "registered",
                    name);
}

Status check_committed(const char* name, const datatype::Datatype& type) {
  return type.committed()
             ? Status()
             : base::fail(MPI_ERR_TYPE, "({}): the type was not committed (MPI_Type_commit)", name);
}

}  // namespace

Status file_set_view(core::Rank& self, core::File& fh, MPI_Offset disp, const datatype::Datatype& etype,
                     const datatype::Datatype& filetype, const char* datarep, core::Info* info) {
  View::Arguments arguments{disp, datatype::Ref(&etype), datatype::Ref(&filetype), {}};
  Status checked = representation_of(self, datarep, arguments.representation);
  if (checked.ok()) checked = check_committed("etype", etype);
  if (checked.ok()) checked = check_committed("filetype", filetype);
  CLUMP_TRY(File::of(fh).set_view(arguments, checked));
  if (info != nullptr) File::of(fh).hints.take(*info);
  return {};
}

Status file_get_view(core::Rank& self, core::File& fh, MPI_Offset* disp, MPI_Datatype* etype,
                     MPI_Datatype* filetype, char* datarep) {
  const base::Ref<const View> view = File::of(fh).view();
  *disp = view->arguments().displacement;
  *etype = give_out(self, view->arguments().etype);
  *filetype = give_out(self, view->arguments().filetype);
  std::strcpy(datarep, view->representation().name.c_str());
  return {};
}

Status file_get_type_extent(core::Rank&, core::File& fh, const datatype::Datatype& datatype, Count* extent) {
  datatype::Ref in_file;
  CLUMP_TRY(File::of(fh).view()->representation().in_file(datatype, in_file));
  *extent = in_file->extent();
  return {};
}

Status file_get_byte_offset(core::Rank&, core::File& fh, MPI_Offset offset, MPI_Offset* disp) {
  const base::Ref<const View> view = File::of(fh).view();
  if (offset < 0) return base::fail(MPI_ERR_ARG, "(offset = {}): it is negative", offset);
  Count position = 0;
  if (view->is_empty() || __builtin_mul_overflow(offset, view->etype_bytes(), &position) ||
      !view->reaches(position))
    return base::fail(MPI_ERR_ARG, "(offset = {}): the view has no such byte", offset);
  *disp = view->offset_of(position);
  return {};
}

Status file_seek(core::Rank&, core::File& fh, MPI_Offset offset, int whence) {
  return File::of(fh).seek(offset, whence);
}

Status file_seek_shared(core::Rank&, core::File& fh, MPI_Offset offset, int whence) {
  return File::of(fh).seek_shared(offset, whence);
}

Status file_get_position(core::Rank&, core::File& fh, MPI_Offset* offset) {
  if ((File::of(fh).amode() & MPI_MODE_SEQUENTIAL) != 0)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "the file was opened with MPI_MODE_SEQUENTIAL, which has no individual pointer");
  *offset = File::of(fh).pointer();
  return {};
}

Status file_get_position_shared(core::Rank&, core::File& fh, MPI_Offset* offset) {
  *offset = File::of(fh).shared_pointer();
  return {};
}

Status register_datarep(core::Rank& self, const char* datarep,
                        MPI_Datarep_conversion_function* read_conversion_fn,
                        MPI_Datarep_conversion_function_c* read_conversion_fn_c,
                        MPI_Datarep_conversion_function* write_conversion_fn,
                        MPI_Datarep_conversion_function_c* write_conversion_fn_c,
                        MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  if (strnlen(datarep, MPI_MAX_DATAREP_STRING) == MPI_MAX_DATAREP_STRING)
    return base::fail(MPI_ERR_ARG, "(datarep): it has {} characters or more (MPI_MAX_DATAREP_STRING)",
                      MPI_MAX_DATAREP_STRING);
  if (dtype_file_extent_fn == nullptr)
    return base::fail(MPI_ERR_ARG, "(dtype_file_extent_fn = NULL): a function is needed here");
  const Representation::Functions functions{read_conversion_fn,    read_conversion_fn_c, write_conversion_fn,
                                            write_conversion_fn_c, dtype_file_extent_fn, extra_state};
  return Representations::of(self).add(base::make_ref<const Representation>(datarep, functions));
}

}  // namespace clump::mpi
