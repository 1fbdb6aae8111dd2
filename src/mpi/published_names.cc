// Published names (MPI-5.0 section 11.8.4): the process of rank 0 of the job keeps them. Other processes ask
// it in Rank::comm_job. With mpiexec --name-server, or the info key, it publishes them for all jobs of this
// user, too: one process of each host of the job does so there (net/link/public_name.h).
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "mpi/bodies.h"
#include "mpi/dynamic/name_table.h"
#include "mpi/job_service.h"
#include "mpi/process.h"
#include "net/link/link_channel.h"
#include "net/link/public_name.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;

/// The names, in the process of rank 0; what it is asked as the process of another host.
class Names final : public Listener::Owner {
 public:
  NameTable table;

  void asked(int rank, std::span<const std::byte> bytes) override {
    NameRequest question;
    if (bytes.size() < sizeof question) return;
    std::memcpy(&question, bytes.data(), sizeof question);
    if (bytes.size() != sizeof question + question.service_bytes + question.port_bytes) return;
    const auto* const text = reinterpret_cast<const char*>(bytes.data() + sizeof question);
    std::string port(text + question.service_bytes, question.port_bytes);
    const NameOutcome outcome = table.serve(here->world.link.get(), question.call, question.is_public != 0,
                                            {text, question.service_bytes}, port);
    std::string answer(reinterpret_cast<const char*>(&outcome), sizeof outcome);
    if (has_text(question.call, outcome)) answer += port;
    tell(*here, rank, JobTag::kAnswer, question.number, std::as_bytes(std::span(answer)));
  }

  Rank* here = nullptr;  ///< that listens
};

Names& names() {
  static auto& all = *new Names;
  return all;
}

/// Asks the process of a rank, or, in that, does it.
Status ask(Rank& self, NameCall call, std::string_view service, std::string& port, NameOutcome& outcome,
           bool is_public = false, int server = 0) {
  if (self.world.ranks[static_cast<std::size_t>(server)] != nullptr) {
    outcome = names().table.serve(self.world.link.get(), call, is_public, service, port);
    return {};
  }
  const NameRequest question{call, next_question(), static_cast<std::uint32_t>(service.size()),
                             static_cast<std::uint32_t>(port.size()), static_cast<std::uint32_t>(is_public)};
  std::string message(reinterpret_cast<const char*>(&question), sizeof question);
  message.append(service).append(port);
  tell(self, server, JobTag::kName, 0, std::as_bytes(std::span(message)));
  std::array<char, sizeof(NameOutcome) + MPI_MAX_PORT_NAME> answer{};
  core::Operation operation;
  CLUMP_TRY(p2p::receive(job_address(self, server, JobTag::kAnswer, question.number),
                         {answer.data(), static_cast<Count>(answer.size()), datatype::predefined(MPI_BYTE)},
                         operation));
  std::memcpy(&outcome, answer.data(), sizeof outcome);
  if (has_text(call, outcome))
    port.assign(answer.data() + sizeof outcome,
                static_cast<std::size_t>(operation.result.bytes) - sizeof outcome);
  return {};
}

/// Jobs on all hosts of this one find the name, too. Not kDone: at one of them it cannot be published, and
/// `port` is the reason. Of two jobs that publish one name at the same time, the first to come to the first
/// host that both have gets it, as both go through hosts in one order.
Status show(Rank& self, std::string_view service, std::string& port, NameOutcome& outcome) {
  for (const int server : first_ranks_of_hosts())
    if (Status asked = ask(self, NameCall::kShow, service, port, outcome, true, server);
        !asked.ok() || outcome != NameOutcome::kDone)
      return asked;
  return {};
}

Status hide(Rank& self, std::string_view service) {
  NameOutcome outcome{};
  std::string port;
  for (const int server : first_ranks_of_hosts())
    CLUMP_TRY(ask(self, NameCall::kHide, service, port, outcome, false, server));
  return {};
}

/// Open MPI's programs ask by the key for what mpiexec --name-server gives.
bool is_for_all_jobs(const core::Info* info) {
  const auto scope = info != nullptr ? info->get("ompi_global_scope") : std::nullopt;
  return shares_names() || scope == "true" || scope == "1" || scope == "yes";
}

std::string copy_of(const char* port_name) { return {port_name, strnlen(port_name, MPI_MAX_PORT_NAME - 1)}; }

}  // namespace

void keep_names(Rank& rank) {
  names().here = &rank;
  static auto& listener = *new Listener(rank, JobTag::kName, names());
  listener.begin_listening();
}

Status publish_name(Rank& self, const char* service_name, core::Info* info, const char* port_name) {
  std::string_view service;
  CLUMP_TRY(read_service_name(service_name, MPI_ERR_SERVICE, service));
  std::string port = copy_of(port_name);
  NameOutcome outcome{};
  const bool is_public = is_for_all_jobs(info);
  if (is_public && self.world.link == nullptr)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "(service_name = \"{}\"): no other job can connect to this one: {}", service,
                      why_no_other_jobs());
  CLUMP_TRY(ask(self, NameCall::kPublish, service, port, outcome, is_public));
  if (outcome == NameOutcome::kDone && is_public) {
    std::string told = port;
    CLUMP_TRY(show(self, service, told, outcome));
    if (outcome != NameOutcome::kDone) {
      NameOutcome undone{};
      CLUMP_TRY(hide(self, service));
      CLUMP_TRY(ask(self, NameCall::kUnpublish, service, port, undone));
      port = told;
    }
  }
  if (outcome == NameOutcome::kDone) return {};
  if (outcome == NameOutcome::kIsThere)
    return base::fail(
        MPI_ERR_SERVICE,
        "(service_name = \"{}\"): it is published already: take another name, or MPI_Unpublish_name first",
        service);
  return base::fail(MPI_ERR_SERVICE, "(service_name = \"{}\"): {}", service, port);
}

Status lookup_name(Rank& self, const char* service_name, core::Info*, char* port_name) {
  std::string_view service;
  CLUMP_TRY(read_service_name(service_name, MPI_ERR_NAME, service));
  std::string port;
  NameOutcome outcome{};
  CLUMP_TRY(ask(self, NameCall::kLookUp, service, port, outcome));
  std::string holder;
  if (outcome != NameOutcome::kDone && (port = net::link::find_public_name(service, holder)).empty())
    return base::fail(
        MPI_ERR_NAME,
        "(service_name = \"{}\"): no rank of this job has published it, and none of a job on this "
        "machine that was started by mpiexec --name-server{}",
        service, holder.empty() ? holder : fmt::format(": {} has taken it there", holder));
  std::memcpy(port_name, port.c_str(), port.size() + 1);
  return {};
}

Status unpublish_name(Rank& self, const char* service_name, core::Info*, const char* port_name) {
  std::string_view service;
  CLUMP_TRY(read_service_name(service_name, MPI_ERR_SERVICE, service));
  std::string port = copy_of(port_name);
  NameOutcome outcome{};
  CLUMP_TRY(ask(self, NameCall::kUnpublish, service, port, outcome));
  if (outcome == NameOutcome::kDone) return {};
  if (outcome == NameOutcome::kWasPublic) return hide(self, service);
  return base::fail(MPI_ERR_SERVICE, "(service_name = \"{}\"): {}", service,
                    outcome == NameOutcome::kUnknown ? "no rank of this job has published it"
                                                     : "it is published for another port_name");
}

}  // namespace clump::mpi
