#include "mpi/dynamic/connect_timeout.h"

#include <locale.h>
#include <stdlib.h>

#include <cmath>
#include <string>

namespace clump::mpi {

base::Status read_timeout(const core::Info* info, double& seconds) {
  seconds = -1;
  const auto text = info != nullptr ? info->get("timeout") : std::nullopt;
  if (!text) return {};
  // Not std::from_chars(): that of double needs libm, and the MPI library does without (topo/grid.cc).
  static const locale_t with_point = ::newlocale(LC_ALL_MASK, "C", nullptr);
  char* end = nullptr;
  seconds = ::strtod_l(text->c_str(), &end, with_point);
  if (end != text->c_str() && *end == '\0' && std::isfinite(seconds) && seconds >= 0) return {};
  return base::fail(MPI_ERR_INFO_VALUE, "(info): timeout = \"{}\": a number of seconds is needed, 0 or more",
                    *text);
}

}  // namespace clump::mpi
