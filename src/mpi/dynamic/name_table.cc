#include "mpi/dynamic/name_table.h"

#include <string.h>

#include <mutex>

#include "net/link/link_channel.h"

namespace clump::mpi {

base::Status read_service_name(const char* service_name, int error_class, std::string_view& service) {
  service = {service_name, strnlen(service_name, kMostServiceName + 1)};
  if (!service.empty() && service.size() <= kMostServiceName) return {};
  return base::fail(error_class, "(service_name): it has {} characters; 1 to {} are allowed",
                    service.empty() ? "no" : "more", kMostServiceName);
}

NameOutcome NameTable::serve(net::LinkChannel* link, NameCall call, bool is_public, std::string_view service,
                             std::string& port) {
  const std::lock_guard lock(mutex_);
  const auto found = ports_.find(service);
  if (call == NameCall::kPublish)
    return ports_.emplace(service, Port{port, is_public}).second ? NameOutcome::kDone : NameOutcome::kIsThere;
  if (call == NameCall::kShow) {
    const base::Status published = link->publish(service, port);
    if (published.ok()) return NameOutcome::kDone;
    port = base::message_of(published.code());
    return NameOutcome::kIsNotPublic;
  }
  if (call == NameCall::kHide) {
    link->unpublish(service);
    return NameOutcome::kDone;
  }
  if (found == ports_.end()) return NameOutcome::kUnknown;
  if (call == NameCall::kLookUp) {
    port = found->second.name;
    return NameOutcome::kDone;
  }
  if (found->second.name != port) return NameOutcome::kOtherPort;
  const bool was_public = found->second.is_public;
  ports_.erase(found);
  return was_public ? NameOutcome::kWasPublic : NameOutcome::kDone;
}

}  // namespace clump::mpi
