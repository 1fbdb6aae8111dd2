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
  if (call == NameCall::kPublish && found != ports_.end()) return NameOutcome::kIsThere;
  if (call == NameCall::kPublish || call == NameCall::kShow) {
    if (is_public) {
      if (const base::Status published = link->publish(service, port); !published.ok()) {
        port = base::message_of(published.code());
        return NameOutcome::kIsNotPublic;
      }
    }
    if (call == NameCall::kPublish) ports_.emplace(service, port);
    return NameOutcome::kDone;
  }
  if (call == NameCall::kHide) {
    link->unpublish(service);
    return NameOutcome::kDone;
  }
  if (found == ports_.end()) return NameOutcome::kUnknown;
  if (call == NameCall::kLookUp) {
    port = found->second;
    return NameOutcome::kDone;
  }
  if (found->second != port) return NameOutcome::kOtherPort;
  if (link != nullptr) link->unpublish(service);
  ports_.erase(found);
  return NameOutcome::kDone;
}

}  // namespace clump::mpi
