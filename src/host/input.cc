// Standard input of the ranks: which of them reads what mpiexec reads (mpiexec --stdin).
#include <fcntl.h>
#include <unistd.h>

#include "host/environment.h"
#include "host/state.h"

namespace clump::host {

void find_inputs(const char* descriptors) {
  host().inputs = numbers_of(descriptors);
  for (const int descriptor : host().inputs) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
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
