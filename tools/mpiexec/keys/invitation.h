// Where a proxy finds mpiexec, for launchers that give no stream, and how it gets the job's key: by a file
// that only this user can read, or from its standard input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "keys/key.h"

namespace clump::mpiexec {

/// mpiexec listens at one port of some of its addresses. No secret.
struct Invitation {
  std::vector<std::string> addresses;  ///< numeric
  int port = 0;
};

/// "10.0.0.1,fd00::1@40123", for a command line.
std::string text_of(const Invitation& invitation);
base::Status parse(std::string_view text, Invitation& invitation);

/// A file of mode 0600 in a new folder of mode 0700, which is in the user's home folder, or in the working
/// folder if that cannot be written to: the other hosts see both. Of mpiexec's only thread. Removed in the
/// end; if mpiexec is killed, the supervisor that has been given `folder()` removes it (job/supervisor.h).
class KeyFile {
 public:
  KeyFile() = default;
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  ~KeyFile() { remove(); }

  /// Makes nothing yet.
  void choose();
  base::Status write(const Key& key, const Invitation& invitation);
  const std::string& folder() const { return folder_; }
  std::string path() const;
  /// No other proxy needs it.
  void remove();

 private:
  std::string folder_;
};

/// Reads such a file. It is refused if another user can have written it, or can read it. One that is not
/// there yet is waited for: a network file system may show it late.
base::Status read_key_file(const std::string& path, std::optional<Key>& key, Invitation& invitation);

/// A line from standard input; from a terminal without showing it, behind a prompt. Waits.
base::Status read_key(std::optional<Key>& key);

}  // namespace clump::mpiexec
