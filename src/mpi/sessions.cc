// Sessions (MPI-5.0 section 11.3), process sets, and what is made of them (sections 7.3.2, 7.4.2, 7.6.2). All
// ranks of a job know one another from its start, so a session needs nobody's agreement.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/process_sets.h"
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/buffers.h"
#include "mpi/initialization.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using core::Session;

constexpr std::pair<int, std::string_view> kThreadLevels[] = {
    {MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
    {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
    {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
    {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

/// Every wish is granted, and more: a session has MPI_THREAD_MULTIPLE.
Status check_thread_level(const core::Info* info) {
  const auto wish = info != nullptr ? info->get("thread_level") : std::nullopt;
  if (!wish) return {};
  for (const auto& [level, name] : kThreadLevels)
    if (name == *wish) return {};
  return base::fail(
      MPI_ERR_INFO_VALUE,
      "(info): thread_level = \"{}\" is no thread level: use MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or "
      "_MULTIPLE",
      *wish);
}

}  // namespace

Status session_init(Rank& self, core::Info* info, core::Errhandler& errhandler, MPI_Session* session) {
  CLUMP_TRY(check_thread_level(info));
  begin_use(self);
  *session = self.add(base::make_ref<Session>(self.new_origin(), MPI_THREAD_MULTIPLE,
                                              base::Ref<core::Errhandler>(&errhandler)));
  return {};
}

Status session_finalize(Rank& self, MPI_Session* session) {
  const base::Ref<Session> ended = self.remove(*session);
  *session = MPI_SESSION_NULL;
  end_buffer(ended->send_buffer);
  self.forget(ended->origin);
  end_use(self);
  return {};
}

Status session_get_info(Rank& self, Session& session, MPI_Info* info_used) {
  auto facts = std::make_unique<core::Info>();
  for (const auto& [level, name] : kThreadLevels)
    if (level == session.thread_level) facts->set("thread_level", name);
  facts->set("mpi_memory_alloc_kinds", kMemoryKinds);
  *info_used = self.add(std::move(facts));
  return {};
}

Status session_get_num_psets(Rank& self, Session&, core::Info*, int* npset_names) {
  *npset_names = static_cast<int>(core::process_sets_of(self).size());
  return {};
}

Status session_get_nth_pset(Rank& self, Session&, core::Info*, int n, int* pset_len, char* pset_name) {
  const std::vector<std::string> names = core::process_sets_of(self);
  if (n < 0 || n >= static_cast<int>(names.size()))
    return base::fail(MPI_ERR_ARG, "(n = {}): this rank is in {} process sets, with numbers from 0", n,
                      names.size());
  const std::string& name = names[n];
  const int needed = static_cast<int>(name.size()) + 1;
  if (*pset_len > 0) {
    if (pset_name == nullptr)
      return base::fail(MPI_ERR_ARG, "(pset_name = NULL): room for {} characters is needed here", *pset_len);
    const int copied = std::min(*pset_len, needed) - 1;
    std::memcpy(pset_name, name.data(), copied);
    pset_name[copied] = '\0';
  }
  *pset_len = needed;
  return {};
}

Status session_get_pset_info(Rank& self, Session& session, const char* pset_name, MPI_Info* info) {
  const base::Ref<const core::Group> set = core::process_set(self, pset_name, session.origin);
  if (!set)
    return base::fail(MPI_ERR_ARG, "(pset_name = \"{}\"): this rank is in no such process set", pset_name);
  auto facts = std::make_unique<core::Info>();
  facts->set("mpi_size", std::to_string(set->size()));
  *info = self.add(std::move(facts));
  return {};
}

Status group_from_session_pset(Rank& self, Session& session, const char* pset_name, MPI_Group* newgroup) {
  base::Ref<const core::Group> set = core::process_set(self, pset_name, session.origin);
  *newgroup = MPI_GROUP_NULL;  // the result for a name that nobody has (MPI-5.0 section 11.3.2)
  if (!set)
    return base::fail(
        MPI_ERR_ARG, "(pset_name = \"{}\"): there is no such process set; MPI_Session_get_nth_pset names all",
        pset_name);
  *newgroup = self.add(std::move(set));
  return {};
}

}  // namespace clump::mpi
