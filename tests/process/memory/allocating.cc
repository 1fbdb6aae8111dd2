// Programs that allocate as C++ codes do: containers, strdup(), getline(), threads, aligned and large blocks,
// messages from and into fresh memory. Run under the default allocator, and with jemalloc, tcmalloc and
// mimalloc linked or in LD_PRELOAD, as users' job scripts have them. Right: every block holds what was
// written into it.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr char kLine[] = "some text of a line";

long fill_containers() {
  std::map<int, std::string> all;
  for (int i = 0; i < 500; ++i)
    all[i * 7919 % 1000] = std::string(static_cast<std::size_t>(i % 300), static_cast<char>('a' + i % 26));
  long bad = 0;
  for (const auto& [key, text] : all)
    bad += text.find_first_not_of(text.empty() ? 'a' : text.front()) != std::string::npos;
  return bad;
}

/// Blocks that another thread of the rank has made, freed by this one.
long free_those_of_thread() {
  std::vector<char*> lines;
  std::thread([&] {
    for (std::size_t i = 0; i < 300; ++i) {
      char* const line = static_cast<char*>(std::realloc(strdup(kLine), 50 + i * 13));
      std::memset(line + sizeof kLine, static_cast<int>(i), 30 + i * 13 - sizeof kLine);
      lines.push_back(line);
    }
  }).join();
  long bad = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bad += std::strcmp(lines[i], kLine) != 0;
    for (std::size_t at = sizeof kLine; at < 30 + i * 13; ++at) bad += lines[i][at] != static_cast<char>(i);
    std::free(lines[i]);
  }
  return bad;
}

long aligned_and_zeroed() {
  char* const aligned = static_cast<char*>(std::aligned_alloc(4096, 8192));
  char* const zeroed = static_cast<char*>(std::calloc(3, 1 << 20));
  long bad = reinterpret_cast<std::uintptr_t>(aligned) % 4096 != 0;
  for (std::size_t i = 0; i < std::size_t{3} << 20; i += 511) bad += zeroed[i] != 0;
  std::memset(zeroed, 1, std::size_t{3} << 20);
  std::memset(aligned, 1, 8192);
  std::free(aligned);
  std::free(zeroed);
  return bad;
}

/// The C library allocates for getline() and strdup(), the program frees.
long read_lines() {
  std::FILE* const file = std::fopen("/proc/self/maps", "r");
  char* line = nullptr;
  std::size_t room = 0;
  long lines = 0;
  while (getline(&line, &room, file) > 0) ++lines;
  std::free(line);
  std::fclose(file);
  return lines == 0;
}

long exchange(int rank, int ranks, int round) {
  const std::vector<double> sent(std::size_t{1} << (round % 15), rank);
  std::vector<double> received(sent.size());
  const int count = static_cast<int>(sent.size()), from = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(sent.data(), count, MPI_DOUBLE, (rank + 1) % ranks, round, received.data(), count, MPI_DOUBLE,
               from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return received.back() != from;
}

}  // namespace

int main(int argc, char** argv) {
  int given = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long bad = 0;
  for (int round = 0; round < 20; ++round)
    bad += fill_containers() + free_those_of_thread() + aligned_and_zeroed() + read_lines() +
           exchange(rank, ranks, round);
  if (bad != 0) std::fprintf(stderr, "rank %d: %ld blocks or messages are wrong\n", rank, bad);
  MPI_Finalize();
  return bad != 0;
}
