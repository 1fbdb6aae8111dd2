// Standard input of the ranks: which of them reads what mpiexec reads (mpiexec --stdin).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "host/state.h"

namespace clump::host {

std::string find_inputs(const char* descriptors) {
  std::vector<int>& inputs = host().inputs;
  const std::string_view all = descriptors != nullptr ? descriptors : "";
  for (std::string_view rest = all; !rest.empty();) {
    int descriptor = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), descriptor);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc() || (!rest.empty() && rest.front() != ',') ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
      return fmt::format(
          "CLUMP_INPUT_FDS={:.60}: these have to be descriptors that are open, with commas between them; "
          "have programs that mpiexec starts this one by pass its variables and descriptors on as they are",
          all);
    inputs.push_back(descriptor);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
  }
  return {};
}

void open_input(HostedRank& rank) {
  Host& here = host();
  const int number = rank.identity.rank;
  int descriptor = -1;
  if (rank.spawned != nullptr) return image::read_input_from(rank.identity, descriptor);
  const auto place = static_cast<std::size_t>(&rank - here.ranks.get());
  if (here.job.input == number) descriptor = STDIN_FILENO;
  if (place < here.inputs.size()) descriptor = here.inputs[place];
  image::read_input_from(rank.identity, descriptor);
}

}  // namespace clump::host
