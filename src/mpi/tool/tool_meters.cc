// Performance variables (MPI-5.0 section 15.3.7).
#include "mpi/bodies.h"
#include "mpi/tool/tools.h"

namespace clump::mpi {

using base::Status;
using instruments::Meter;
using instruments::Tool;

Status t_pvar_get_num(Tool&, int* num_pvar) { return count_entries(instruments::meters(), num_pvar); }

Status t_pvar_get_info(Tool&, int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                       MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                       int* readonly, int* continuous, int* atomic) {
  const Meter* const meter = entry_at(instruments::meters(), pvar_index);
  if (meter == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  const bool can_be_turned = meter->is_sum() || meter->is_mark();
  put_text(meter->name, name, name_len);
  put(verbosity, meter->verbosity);
  put(var_class, meter->var_class);
  put(datatype, meter->is_state() ? MPI_INT : MPI_UNSIGNED_LONG_LONG);
  put(enumtype, handle_of(meter->enumeration));
  put_text(meter->description, desc, desc_len);
  put(bind, meter->of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
  put(readonly, can_be_turned ? 0 : 1);
  put(continuous, can_be_turned ? 0 : 1);
  put(atomic, meter->is_sum() ? 1 : 0);
  return {};
}

Status t_pvar_get_index(Tool&, const char* name, int var_class, int* pvar_index) {
  return find_entry(instruments::meters(), name, pvar_index,
                    [&](const Meter& meter) { return meter.var_class == var_class; });
}

Status t_pvar_session_create(Tool& tool, MPI_T_pvar_session* pe_session) {
  if (pe_session == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *pe_session = tool.new_session();
  return {};
}

Status t_pvar_session_free(Tool& tool, MPI_T_pvar_session* pe_session) {
  if (pe_session == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  CLUMP_TRY(tool.end_session(*pe_session));
  *pe_session = MPI_T_PVAR_SESSION_NULL;
  return {};
}

Status t_pvar_handle_alloc(Tool& tool, MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle,
                           MPI_T_pvar_handle* handle, int* count) {
  const Meter* const meter = entry_at(instruments::meters(), pvar_index);
  if (meter == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (handle == nullptr || count == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  return tool.open(pe_session, *meter, obj_handle, *handle, *count);
}

Status t_pvar_handle_free(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  CLUMP_TRY(tool.close(pe_session, *handle));
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return {};
}

Status t_pvar_start(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool.turn(pe_session, handle, Tool::Turn::kStart);
}

Status t_pvar_stop(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool.turn(pe_session, handle, Tool::Turn::kStop);
}

Status t_pvar_reset(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool.turn(pe_session, handle, Tool::Turn::kReset);
}

Status t_pvar_read(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  if (buf == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  return tool.read(pe_session, handle, buf, false);
}

Status t_pvar_readreset(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  if (buf == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  return tool.read(pe_session, handle, buf, true);
}

Status t_pvar_write(Tool& tool, MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  if (buf == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  return tool.write(pe_session, handle, buf);
}

}  // namespace clump::mpi
