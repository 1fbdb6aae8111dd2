// The addresses that processes publish: the provider, the names of all endpoints, and the token that has to
// be in front of everything that is sent to them; and whether a connection has to begin with a greeting.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/ofi/setup.h"

namespace clump::net::ofi {

using Name = std::vector<std::byte>;

struct PublishedAddress {
  std::string provider;
  std::uint64_t token = 0;  ///< chosen by the process; the launcher tells it to the job's processes only
  std::vector<Name> endpoints;
  bool expects_greetings = false;  ///< connections begin with a greeting (Setup::give_greetings)

  std::vector<std::byte> packed() const;
  /// False: `packed` is no address.
  static bool unpack(std::span<const std::byte> packed, PublishedAddress& address);
};

/// Finds each process once. Any thread.
class AddressBook {
 public:
  AddressBook(const Setup& setup, std::string provider);
  /// The number of processes of the job.
  std::size_t processes() const { return known_.size(); }
  struct Entry {
    Name name;
    std::uint64_t token = 0;
    bool expects_greetings = false;
  };
  /// The address of one endpoint of a process. No name: the process has not published it yet.
  base::Status find(int process, std::size_t endpoint, Entry& entry);

 private:
  base::Status read(int process, PublishedAddress& address) const;

  const Setup& setup_;
  const std::string provider_;
  std::mutex mutex_;
  std::vector<PublishedAddress> known_;  // [process]; without endpoints: not known yet
};

}  // namespace clump::net::ofi
