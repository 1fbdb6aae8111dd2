#include "host/own_preloads.h"

#include <algorithm>
#include <utility>

namespace clump::host {

OwnPreloads::OwnPreloads(std::string_view folder, std::vector<std::string_view> added)
    : host(std::string(folder) + "/libclump_host.so"),
      mpi(std::string(folder) + "/libmpi_abi.so.1"),
      added_(std::move(added)) {}

bool OwnPreloads::has(std::string_view library) const {
  return library == host || library == mpi || std::ranges::find(added_, library) != added_.end();
}

OwnPreloads::Around OwnPreloads::around(std::span<const std::string_view> libraries) const {
  Around found;
  bool is_behind = false;
  for (const std::string_view library : libraries) {
    is_behind = is_behind || library == host;
    if (library == host || library == mpi || !has(library)) continue;
    is_behind ? found.back.append(":").append(library) : found.front.append(library).append(":");
  }
  return found;
}

std::string OwnPreloads::without(std::span<const std::string_view> libraries) const {
  std::string kept;
  for (const std::string_view library : libraries)
    if (!has(library)) kept.append(kept.empty() ? "" : ":").append(library);
  return kept;
}

}  // namespace clump::host
