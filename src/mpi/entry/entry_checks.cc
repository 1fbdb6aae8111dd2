#include "mpi/entry/entry_checks.h"

#include "mpi/process.h"

namespace clump::mpi::check {

namespace {

std::string describe(const core::Comm& comm) {
  if (const std::string name = comm.name.get(); !name.empty())
    return fmt::format("the communicator {}", name);
  return fmt::format("the communicator (it has no name, and {} rank{})", comm.size(),
                     comm.size() == 1 ? "" : "s");
}

std::string ranks(const core::Group& group) {
  return group.size() == 1 ? "has only rank 0" : fmt::format("has ranks 0 to {}", group.size() - 1);
}

// Handles of all kinds fail alike: the null handle, or a number that stands for nothing.
template <typename Handle>
base::Status bad_handle(int error_class, Named<Handle> argument, Handle null, const char* null_name,
                        const char* kind) {
  if (argument.value == null)
    return base::fail(error_class, "({} = {}): {} is needed here", argument.name, null_name, kind);
  if (argument.value == nullptr) {
    return base::fail(error_class, "({} = 0): this is not {}; is the variable initialised?", argument.name,
                      kind);
  }
  const std::string other = words_about_other_mpi();
  if (!other.empty())
    return base::fail(error_class, "({} = {:#x}): {}", argument.name, core::value_of(argument.value), other);
  return base::fail(
      error_class,
      "({} = {:#x}): this is not {} of this rank; it was freed, belongs to another rank or was never made",
      argument.name, core::value_of(argument.value), kind);
}

// No program has data in the first page, so data that lies there has no absolute address.
constexpr Count kFirstPage = 4096;

bool can_be_absolute(Count address) { return address >= kFirstPage || address < 0; }

// What a buffer must not be, but for null.
base::Status special_buffer(Named<const void*> argument) {
  if (argument.value == MPI_IN_PLACE)
    return base::fail(MPI_ERR_BUFFER, "({} = MPI_IN_PLACE): this argument has to be a buffer", argument.name);
  if (argument.value == MPI_BUFFER_AUTOMATIC)
    return base::fail(MPI_ERR_BUFFER,
                      "({} = MPI_BUFFER_AUTOMATIC): only MPI_Buffer_attach and its family take it",
                      argument.name);
  return {};
}

}  // namespace

namespace cold {

base::Status comm(Named<MPI_Comm> argument) {
  if (argument.value == MPI_COMM_WORLD || argument.value == MPI_COMM_SELF)
    return base::fail(
        MPI_ERR_COMM,
        "({} = MPI_COMM_{}): it is there between MPI_Init and MPI_Finalize only; with sessions, "
        "make a communicator of the process set mpi://{}",
        argument.name, argument.value == MPI_COMM_WORLD ? "WORLD" : "SELF",
        argument.value == MPI_COMM_WORLD ? "WORLD" : "SELF");
  return bad_handle(MPI_ERR_COMM, argument, MPI_COMM_NULL, "MPI_COMM_NULL", "a communicator");
}

base::Status datatype(Named<MPI_Datatype> argument) {
  return bad_handle(MPI_ERR_TYPE, argument, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL", "a datatype");
}

base::Status uncommitted(Named<MPI_Datatype> argument, const datatype::Datatype& type) {
  return base::fail(MPI_ERR_TYPE,
                    "({} = {}): call MPI_Type_commit before this type is used for communication",
                    argument.name, type.description());
}

base::Status topology(Named<MPI_Comm> argument) {
  return base::fail(MPI_ERR_TOPOLOGY,
                    "({} = {:#x}): the communicator has no topology, so nobody is a neighbour; "
                    "MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create make one",
                    argument.name, core::value_of(argument.value));
}

base::Status inter(Named<MPI_Comm> argument) {
  return base::fail(MPI_ERR_COMM,
                    "({} = {:#x}): the communicator is an intercommunicator, and this call needs an "
                    "intracommunicator; MPI_Intercomm_merge makes one of both groups",
                    argument.name, core::value_of(argument.value));
}

base::Status group(Named<MPI_Group> argument) {
  return bad_handle(MPI_ERR_GROUP, argument, MPI_GROUP_NULL, "MPI_GROUP_NULL", "a group");
}

base::Status op(Named<MPI_Op> argument) {
  return bad_handle(MPI_ERR_OP, argument, MPI_OP_NULL, "MPI_OP_NULL", "a reduction operation");
}

base::Status errhandler(Named<MPI_Errhandler> argument) {
  return bad_handle(MPI_ERR_ERRHANDLER, argument, MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL",
                    "an error handler");
}

base::Status info(Named<MPI_Info> argument) {
  return bad_handle(MPI_ERR_INFO, argument, MPI_INFO_NULL, "MPI_INFO_NULL", "an info object");
}

base::Status win(Named<MPI_Win> argument) {
  return bad_handle(MPI_ERR_WIN, argument, MPI_WIN_NULL, "MPI_WIN_NULL", "a window");
}

base::Status session(Named<MPI_Session> argument) {
  return bad_handle(MPI_ERR_SESSION, argument, MPI_SESSION_NULL, "MPI_SESSION_NULL", "a session");
}

base::Status file(Named<MPI_File> argument) {
  return bad_handle(MPI_ERR_FILE, argument, MPI_FILE_NULL, "MPI_FILE_NULL", "an open file");
}

base::Status unsuited(Named<MPI_Errhandler> argument, core::Errhandler::Action kind) {
  return base::fail(MPI_ERR_ARG, "({} = {:#x}): it was not made by MPI_{}_create_errhandler", argument.name,
                    core::value_of(argument.value),
                    kind == core::Errhandler::Action::kSession ? "Session" : "Comm");
}

base::Status negative(Named<Count> argument, int error_class) {
  return base::fail(error_class, "({} = {}): this must not be negative", argument.name, argument.value);
}

base::Status negative_element(const char* name, std::size_t index, Count value) {
  return base::fail(MPI_ERR_COUNT, "({}[{}] = {}): this must not be negative", name, index, value);
}

base::Status null(const char* name, int error_class) {
  return base::fail(error_class, "({} = NULL): an address is needed here", name);
}

base::Status null_array(const char* name, Count length) {
  return base::fail(MPI_ERR_ARG, "({} = NULL): an array of {} element{} is needed here", name, length,
                    length == 1 ? "" : "s");
}

base::Status displacements(const char* name, Named<Counts> counts, Count number) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i)
    if (counts.value[i] != 0)
      return base::fail(MPI_ERR_ARG,
                        "({} = NULL): an array of {} displacement{} is needed here, because {}[{}] is {}",
                        name, number, number == 1 ? "" : "s", counts.name, i, counts.value[i]);
  return {};
}

base::Status peer(Named<int> argument, const core::Comm& comm, bool wildcard) {
  if (argument.value == MPI_ANY_SOURCE && !wildcard)
    return base::fail(MPI_ERR_RANK, "({} = MPI_ANY_SOURCE): only receives and probes may use it",
                      argument.name);
  return base::fail(MPI_ERR_RANK, "({} = {}): {} {}{}", argument.name, argument.value, describe(comm),
                    comm.is_inter() ? "is an intercommunicator, and its remote group " : "",
                    ranks(comm.peers()));
}

base::Status member(Named<int> argument, const core::Comm& comm) {
  return base::fail(MPI_ERR_RANK, "({} = {}): {} {}", argument.name, argument.value, describe(comm),
                    ranks(*comm.group));
}

base::Status root(Named<int> argument, const core::Comm& comm) {
  if (!comm.is_inter()) {
    const char* const hint = argument.value == MPI_ROOT ? "; MPI_ROOT is for intercommunicators" : "";
    return base::fail(MPI_ERR_ROOT, "({} = {}): {} {}{}", argument.name, argument.value, describe(comm),
                      ranks(comm.peers()), hint);
  }
  return base::fail(
      MPI_ERR_ROOT,
      "({} = {}): {} is an intercommunicator, so this must be MPI_ROOT, MPI_PROC_NULL or a rank of its "
      "remote group, which {}",
      argument.name, argument.value, describe(comm), ranks(comm.peers()));
}

base::Status tag(Named<int> argument, bool wildcard) {
  if (argument.value == MPI_ANY_TAG && !wildcard)
    return base::fail(MPI_ERR_TAG, "({} = MPI_ANY_TAG): only receives and probes may use it", argument.name);
  return base::fail(MPI_ERR_TAG, "({} = {}): tags are from 0 to {} (MPI_TAG_UB)", argument.name,
                    argument.value, kMaxTag);
}

base::Status in_place(const char* name) {
  return base::fail(MPI_ERR_BUFFER, "({} = MPI_IN_PLACE): this process may not work in place here", name);
}

base::Status buffer(Named<const void*> argument, Count count, const datatype::Datatype* type) {
  CLUMP_TRY(special_buffer(argument));
  if (count == 0 || type->size() == 0 || can_be_absolute(type->true_lb())) return {};
  return base::fail(MPI_ERR_BUFFER, "({} = NULL): a buffer for {} element{} of {} is needed", argument.name,
                    count, count == 1 ? "" : "s", type->description());
}

base::Status buffer(Named<const void*> argument, const Blocks& blocks) {
  CLUMP_TRY(special_buffer(argument));
  for (std::size_t i = 0; i < static_cast<std::size_t>(blocks.number); ++i) {
    const Count count = blocks.counts.value[i];
    const datatype::Datatype& type =
        blocks.types == nullptr ? *blocks.type : *blocks.rank->datatype(blocks.types[i]);
    if (count == 0 || type.size() == 0) continue;
    const Count displacement = blocks.displacements ? blocks.displacements[i] : 0;
    const Count unit = blocks.types == nullptr ? type.extent() : 1;
    if (can_be_absolute(displacement * unit + type.true_lb())) continue;
    return base::fail(MPI_ERR_BUFFER, "({} = NULL): a buffer is needed here, because {}[{}] is {} (of {})",
                      argument.name, blocks.counts.name, i, count, type.description());
  }
  return {};
}

}  // namespace cold

base::Status apart(Named<Data> data, Named<Data> result, const char* in_place) {
  const bool overlap = data.value.type == result.value.type && data.value.type->size() > 0 &&
                       data.value.count > 0 && result.value.count > 0;
  if (!overlap) return {};
  return base::fail(
      MPI_ERR_BUFFER, "({} = {} = {}): the result must not overlap the data; give one of them other memory{}",
      data.name, result.name, data.value.buffer,
      in_place == nullptr ? std::string()
                          : fmt::format(", or pass MPI_IN_PLACE as {} in an intracommunicator", in_place));
}

base::Status types(Call& call, Named<const MPI_Datatype*> argument, Count length) {
  CLUMP_TRY(array({argument.name, argument.value}, length));
  for (Count i = 0; i < length; ++i) {
    const datatype::Datatype* type = call.self->datatype(argument.value[i]);
    if (type != nullptr && type->committed()) [[likely]]
      continue;
    const std::string element = fmt::format("{}[{}]", argument.name, i);
    const Named<MPI_Datatype> named{element.c_str(), argument.value[i]};
    return type == nullptr ? cold::datatype(named) : cold::uncommitted(named, *type);
  }
  return {};
}

}  // namespace clump::mpi::check
