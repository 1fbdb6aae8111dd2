// Hosts whose launcher gives no stream: their proxies get the job's key, connect, and prove that they know it
// (keys/). A launcher's process names a file with the key, or the user starts the proxies, and types the key
// that mpiexec shows on the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "common/poll_set.h"
#include "common/wish.h"
#include "keys/admission.h"
#include "keys/invitation.h"

namespace clump::mpiexec {

/// Of mpiexec's only thread; nothing blocks but tell_user().
class Arrivals {
 public:
  enum class KeyBy { kFile, kUser };
  /// A host by its number in the job, and its name.
  using Hosts = std::vector<std::pair<std::uint32_t, std::string>>;

  /// Listens for the proxies of these hosts; at the addresses of an interface, or at those by which the hosts
  /// are reached.
  base::Status open(KeyBy by, const Hosts& hosts, const tools::Wish& interface);
  /// What a proxy's command line has behind its host's number. No secret.
  std::vector<std::string> words() const;
  /// Where the key will be, to be removed if mpiexec is killed; empty: it is not in a file.
  const std::string& folder() const { return file_.folder(); }
  /// When there is a process that removes the folder.
  base::Status hand_out();
  /// Shows on the terminal what is to be typed on each host, where mpiexec is `program`. Fails where there is
  /// none: the key is written to no file.
  base::Status tell_user(const Hosts& hosts, const std::string& program) const;

  std::vector<int> descriptors() const { return admission_.descriptors(); }
  void add_to(tools::PollSet& all) const { admission_.add_to(all); }
  /// The next proxy that has come, if there is one now. With the last, the port and the file are gone.
  std::optional<Guest> next();
  bool is_open() const { return admission_.is_open(); }
  /// Nothing more is waited for.
  void close();

 private:
  Admission admission_;
  KeyFile file_;
  KeyBy by_ = KeyBy::kFile;
};

}  // namespace clump::mpiexec
