// Control variables (MPI-5.0 section 15.3.6).
#include "instruments/settings.h"
#include "mpi/bodies.h"
#include "mpi/tool/tools.h"

namespace clump::mpi {

using base::Status;
using instruments::Control;
using instruments::Tool;

Status t_cvar_get_num(Tool&, int* num_cvar) { return count_entries(instruments::controls(), num_cvar); }

Status t_cvar_get_info(Tool&, int cvar_index, char* name, int* name_len, int* verbosity,
                       MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                       int* scope) {
  const Control* const control = entry_at(instruments::controls(), cvar_index);
  if (control == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  put_text(control->name, name, name_len);
  put(verbosity, control->verbosity);
  put(datatype, control->type);
  put(enumtype, handle_of(control->enumeration));
  put_text(control->description, desc, desc_len);
  put(bind, MPI_T_BIND_NO_OBJECT);
  put(scope, control->scope);
  return {};
}

Status t_cvar_get_index(Tool&, const char* name, int* cvar_index) {
  return find_entry(instruments::controls(), name, cvar_index);
}

Status t_cvar_handle_alloc(Tool& tool, int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  const Control* const control = entry_at(instruments::controls(), cvar_index);
  if (control == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (handle == nullptr || count == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  CLUMP_TRY(tool.open(*control, *handle));
  *count = instruments::elements_of(*control);
  return {};
}

Status t_cvar_handle_free(Tool& tool, MPI_T_cvar_handle* handle) {
  if (handle == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  CLUMP_TRY(tool.close(*handle));
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return {};
}

Status t_cvar_read(Tool& tool, MPI_T_cvar_handle handle, void* buf) {
  const Control* const control = tool.control(handle);
  if (control == nullptr) return tool_failure(MPI_T_ERR_INVALID_HANDLE);
  if (buf == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  instruments::get(tool.rank, *control, buf);
  return {};
}

Status t_cvar_write(Tool& tool, MPI_T_cvar_handle handle, const void* buf) {
  const Control* const control = tool.control(handle);
  if (control == nullptr) return tool_failure(MPI_T_ERR_INVALID_HANDLE);
  if (buf == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  return instruments::set(tool.rank, *control, buf);
}

}  // namespace clump::mpi
