// Standard input of the ranks: which of them reads what mpiexec reads (mpiexec --stdin).
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "host/state.h"

namespace clump::host {

void find_inputs(const char* descriptors) {
  std::vector<int>& inputs = host().inputs;
  while (descriptors != nullptr && *descriptors != '\0') {
    char* end = nullptr;
    inputs.push_back(static_cast<int>(std::strtol(descriptors, &end, 10)));
    ::fcntl(inputs.back(), F_SETFD, FD_CLOEXEC);
    descriptors = *end == ',' ? end + 1 : end;
  }
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
