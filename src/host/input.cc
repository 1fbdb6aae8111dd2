// Standard input of the ranks: which of them reads what mpiexec reads (mpiexec --stdin).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "host/start_variables.h"
#include "host/state.h"
#include "process/files/streams.h"

namespace clump::host {

std::string find_inputs(const char* descriptors) {
  const auto inputs = numbers_of(descriptors);
  const auto is_open = [](int one) { return ::fcntl(one, F_SETFD, FD_CLOEXEC) == 0; };
  if (!inputs || !std::ranges::all_of(*inputs, is_open))
    return fmt::format(
        "CLUMP_INPUT_FDS={:.60}: these have to be descriptors that are open, with commas between them; "
        "have programs that mpiexec starts this one by pass its variables and descriptors on as they are",
        descriptors);
  host().inputs = *inputs;
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
