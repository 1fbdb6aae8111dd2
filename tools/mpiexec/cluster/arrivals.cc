#include "cluster/arrivals.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/printable.h"
#include "cluster/places_here.h"
#include "cluster/proxy.h"
#include "common/places.h"
#include "common/reach.h"

namespace clump::mpiexec {

namespace {

/// Each once; of a host whose name is not known here, none.
std::vector<std::string> addresses_towards(const Arrivals::Hosts& hosts) {
  std::vector<std::string> all;
  for (const auto& [number, name] : hosts) {
    std::string one = tools::address_towards(name);
    if (!one.empty() && !tools::is_loopback(one) && std::ranges::find(all, one) == all.end())
      all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

base::Status Arrivals::open(KeyBy by, const Hosts& hosts, const tools::Wish& interface) {
  by_ = by;
  std::vector<std::string> addresses;
  if (interface.is_set()) {
    CLUMP_TRY(addresses_at(interface, addresses));
  } else {
    addresses = addresses_towards(hosts);
    if (addresses.empty()) addresses = tools::own_addresses();
  }
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, name] : hosts) numbers.push_back(number);
  CLUMP_TRY(admission_.open(std::move(addresses), std::move(numbers)));
  if (by == KeyBy::kFile) file_.choose();
  return {};
}

std::vector<std::string> Arrivals::words() const {
  if (by_ == KeyBy::kFile) return {kKeyFile, file_.path()};
  return {kJoin, text_of(admission_.invitation())};
}

base::Status Arrivals::hand_out() {
  return by_ == KeyBy::kFile ? file_.write(admission_.key(), admission_.invitation()) : base::Status();
}

base::Status Arrivals::tell_user(const Hosts& hosts, const std::string& program) const {
  std::string text =
      "mpiexec: start a proxy on each host, and type the job's key there when you are asked for it:\n";
  for (const auto& [number, name] : hosts) {
    text += fmt::format("  on {}:  {} {} {}", name, tools::shell_word(program), kProxy, number);
    for (const std::string& word : words()) text += " " + tools::shell_word(word);
    text += "\n";
  }
  text = base::printable(text);  // a host's name may come from a file of others
  std::string key = admission_.key().text();
  text += fmt::format("  key:  {}\n", key);
  wipe(key);
  // O_NOCTTY: it is ours already, or is none of ours.
  const int terminal = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
  const bool is_told =
      terminal >= 0 && ::write(terminal, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (terminal >= 0) ::close(terminal);
  wipe(text);
  if (is_told) return {};
  return base::fail(
      MPI_ERR_SPAWN,
      "--launcher manual: there is no terminal on which the job's key could be shown ({}), and it is "
      "written to no file: start mpiexec in a terminal, or choose another launcher",
      std::strerror(why));
}

std::optional<Guest> Arrivals::next() {
  std::optional<Guest> guest = admission_.next();
  if (guest && !admission_.is_open()) file_.remove();
  return guest;
}

void Arrivals::close() {
  admission_.close();
  file_.remove();
}

}  // namespace clump::mpiexec
