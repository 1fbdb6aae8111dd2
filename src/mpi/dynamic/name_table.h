// The published names of a job (MPI-5.0 section 11.8.4), as the process of rank 0 keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "mpi/job_service.h"

namespace clump::net {
class LinkChannel;
}

namespace clump::mpi {

/// The last two are for a process of each host: that jobs there find the name, and no more.
enum class NameCall : std::uint32_t { kPublish, kLookUp, kUnpublish, kShow, kHide };
/// kWasPublic: it is unpublished, and is to be hidden on all hosts.
enum class NameOutcome : std::uint32_t { kDone, kWasPublic, kIsThere, kIsNotPublic, kUnknown, kOtherPort };

/// Whether a text follows an outcome: the port, or a reason.
inline bool has_text(NameCall call, NameOutcome outcome) {
  return outcome == NameOutcome::kIsNotPublic || (call == NameCall::kLookUp && outcome == NameOutcome::kDone);
}

/// What another process asks. In a message its texts follow it.
struct NameRequest {
  NameCall call = NameCall::kLookUp;
  std::uint32_t number = 0;
  std::uint32_t service_bytes = 0, port_bytes = 0;
  std::uint32_t is_public = 0;  ///< of kPublish: other jobs shall find it
};
/// The longest name of a service: a question has room for it.
inline constexpr std::size_t kMostServiceName = kMostAsked - sizeof(NameRequest) - MPI_MAX_PORT_NAME;

/// The name of a service that a program passes. `error_class`, if it is empty or too long.
base::Status read_service_name(const char* service_name, int error_class, std::string_view& service);

/// Any thread.
class NameTable {
 public:
  /// Does what is asked. `link`: where kShow publishes it; null in a job that no other one can connect to.
  /// `is_public`, of kPublish: it will be shown. `port`: of the service; where the result of kLookUp goes,
  /// and the reason of kIsNotPublic.
  NameOutcome serve(net::LinkChannel* link, NameCall call, bool is_public, std::string_view service,
                    std::string& port);

 private:
  std::mutex mutex_;  // no thread waits while it holds this
  struct Port {
    std::string name;
    bool is_public;
  };
  std::map<std::string, Port, std::less<>> ports_;
};

}  // namespace clump::mpi
