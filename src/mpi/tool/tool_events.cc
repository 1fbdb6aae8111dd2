// Events and their sources (MPI-5.0 section 15.3.8). When they are told: instruments/event_dispatcher.h.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "mpi/bodies.h"
#include "mpi/tool/tools.h"

namespace clump::mpi {

namespace {

using base::Status;
using instruments::EventKind;
using instruments::Instance;
using instruments::Interest;
using instruments::Tool;

/// We have no hints: whatever is asked for is read over, and none is in use.
Status check_info(const Tool& tool, MPI_Info info) {
  return info != MPI_INFO_NULL && tool.rank.info(info) == nullptr ? tool_failure(MPI_T_ERR_INVALID)
                                                                  : Status();
}

Status new_info(Tool& tool, MPI_Info* info) {
  if (info == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *info = tool.rank.add(std::make_unique<core::Info>());
  return {};
}

Status check(Tool& tool, MPI_T_event_registration registration) {
  return tool.knows(registration) ? Status() : tool_failure(MPI_T_ERR_INVALID_HANDLE);
}

bool is_safety(MPI_T_cb_safety safety) {
  return std::ranges::find(Interest::kLevels, safety) != std::end(Interest::kLevels);
}

/// Only the callback that runs may ask about its instance.
Status find(const Tool& tool, MPI_T_event_instance event_instance, const Instance*& instance) {
  instance = reinterpret_cast<const Instance*>(event_instance);
  return tool.dispatcher.is_current(instance) ? Status() : tool_failure(MPI_T_ERR_INVALID_HANDLE);
}

void put_element(const Instance& instance, std::size_t element, void* out) {
  const Count value = instance.note.elements[element];
  if (instance.kind.types[element] == MPI_COUNT) {
    std::memcpy(out, &value, sizeof value);
  } else {
    const int narrow = static_cast<int>(value);
    std::memcpy(out, &narrow, sizeof narrow);
  }
}

}  // namespace

Status t_source_get_num(Tool&, int* num_sources) {
  return count_entries(instruments::sources(), num_sources);
}

Status t_source_get_info(Tool& tool, int source_index, char* name, int* name_len, char* desc, int* desc_len,
                         MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                         MPI_Info* info) {
  const auto* const source = entry_at(instruments::sources(), source_index);
  if (source == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  put_text(source->name, name, name_len);
  put_text(source->description, desc, desc_len);
  put(ordering, MPI_T_SOURCE_ORDERED);
  put(ticks_per_second, MPI_Count{1'000'000'000});
  put(max_ticks, MPI_Count{INT64_MAX});
  return info == nullptr ? Status() : new_info(tool, info);
}

Status t_source_get_timestamp(Tool&, int source_index, MPI_Count* timestamp) {
  if (entry_at(instruments::sources(), source_index) == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (timestamp == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *timestamp = instruments::now();
  return {};
}

Status t_event_get_num(Tool&, int* num_events) {
  return count_entries(instruments::event_kinds(), num_events);
}

Status t_event_get_info(Tool& tool, int event_index, char* name, int* name_len, int* verbosity,
                        MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                        int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc, int* desc_len,
                        int* bind) {
  const EventKind* const kind = entry_at(instruments::event_kinds(), event_index);
  if (kind == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  put_text(kind->name, name, name_len);
  put(verbosity, kind->verbosity);
  const auto all = static_cast<int>(kind->types.size());
  const int room = num_elements == nullptr ? 0 : std::min(*num_elements, all);
  for (int i = 0; i < room; ++i) {
    const auto element = static_cast<std::size_t>(i);
    if (array_of_datatypes != nullptr) array_of_datatypes[i] = kind->types[element];
    if (array_of_displacements != nullptr) array_of_displacements[i] = kind->displacements[element];
  }
  put(num_elements, all);
  put(enumtype, handle_of(kind->enumeration));
  put_text(kind->description, desc, desc_len);
  put(bind, kind->of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
  return info == nullptr ? Status() : new_info(tool, info);
}

Status t_event_get_index(Tool&, const char* name, int* event_index) {
  return find_entry(instruments::event_kinds(), name, event_index);
}

Status t_event_handle_alloc(Tool& tool, int event_index, void* obj_handle, MPI_Info info,
                            MPI_T_event_registration* event_registration) {
  const EventKind* const kind = entry_at(instruments::event_kinds(), event_index);
  if (kind == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (event_registration == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  CLUMP_TRY(check_info(tool, info));
  return tool.open(*kind, obj_handle, *event_registration);
}

/// No callback of it is called any more when this returns, so that the user's function is called at once.
Status t_event_handle_free(Tool& tool, MPI_T_event_registration event_registration, void* user_data,
                           MPI_T_event_free_cb_function* free_cb_function) {
  CLUMP_TRY(tool.close(event_registration));
  if (free_cb_function != nullptr) free_cb_function(event_registration, MPI_T_CB_REQUIRE_NONE, user_data);
  return {};
}

Status t_event_handle_set_info(Tool& tool, MPI_T_event_registration event_registration, MPI_Info info) {
  CLUMP_TRY(check(tool, event_registration));
  return check_info(tool, info);
}

Status t_event_handle_get_info(Tool& tool, MPI_T_event_registration event_registration, MPI_Info* info_used) {
  CLUMP_TRY(check(tool, event_registration));
  return new_info(tool, info_used);
}

Status t_event_register_callback(Tool& tool, MPI_T_event_registration event_registration,
                                 MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                                 MPI_T_event_cb_function* event_cb_function) {
  CLUMP_TRY(check_info(tool, info));
  return tool.set_callback(event_registration, cb_safety, {event_cb_function, user_data});
}

Status t_event_callback_set_info(Tool& tool, MPI_T_event_registration event_registration,
                                 MPI_T_cb_safety cb_safety, MPI_Info info) {
  CLUMP_TRY(check(tool, event_registration));
  if (!is_safety(cb_safety)) return tool_failure(MPI_T_ERR_INVALID);
  return check_info(tool, info);
}

Status t_event_callback_get_info(Tool& tool, MPI_T_event_registration event_registration,
                                 MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
  CLUMP_TRY(check(tool, event_registration));
  if (!is_safety(cb_safety)) return tool_failure(MPI_T_ERR_INVALID);
  return new_info(tool, info_used);
}

Status t_event_set_dropped_handler(Tool& tool, MPI_T_event_registration event_registration,
                                   MPI_T_event_dropped_cb_function* dropped_cb_function) {
  return tool.set_dropped(event_registration, dropped_cb_function);
}

Status t_event_read(Tool& tool, MPI_T_event_instance event_instance, int element_index, void* buffer) {
  const Instance* instance = nullptr;
  CLUMP_TRY(find(tool, event_instance, instance));
  if (entry_at(instance->kind.types, element_index) == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (buffer == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  put_element(*instance, static_cast<std::size_t>(element_index), buffer);
  return {};
}

Status t_event_copy(Tool& tool, MPI_T_event_instance event_instance, void* buffer) {
  const Instance* instance = nullptr;
  CLUMP_TRY(find(tool, event_instance, instance));
  if (buffer == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  for (std::size_t element = 0; element < instance->kind.types.size(); ++element)
    put_element(*instance, element, static_cast<std::byte*>(buffer) + instance->kind.displacements[element]);
  return {};
}

Status t_event_get_timestamp(Tool& tool, MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  const Instance* instance = nullptr;
  CLUMP_TRY(find(tool, event_instance, instance));
  if (event_timestamp == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *event_timestamp = instance->note.time;
  return {};
}

Status t_event_get_source(Tool& tool, MPI_T_event_instance event_instance, int* source_index) {
  const Instance* instance = nullptr;
  CLUMP_TRY(find(tool, event_instance, instance));
  if (source_index == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *source_index = static_cast<int>(instance->kind.source);
  return {};
}

}  // namespace clump::mpi
