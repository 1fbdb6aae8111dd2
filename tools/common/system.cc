#include "common/system.h"

#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace clump::tools {

bool has_cheap_switches() {
#if defined(__x86_64__)
  constexpr unsigned long kFsgsbase = 1 << 1;  // HWCAP2_FSGSBASE: the processor can, and Linux (5.9) lets us
  return (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
#else
  return true;
#endif
}

bool has_membarrier() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands >= 0) errno = ENOSYS;
  return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

double stolen_time() {
  std::ifstream file("/proc/stat");
  std::string name;  // "cpu", then user nice system idle iowait irq softirq steal, in ticks
  double all = 0, stolen = 0;
  file >> name;
  for (int column = 0; column < 8 && file >> stolen; ++column) all += stolen;
  return file && all > 0 ? stolen / all : 0;
}

}  // namespace clump::tools
