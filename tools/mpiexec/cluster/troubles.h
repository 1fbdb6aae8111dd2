// What goes wrong on a host before ranks run there, told by the proxy, or by the process that starts it, to
// mpiexec in a line of stderr, and by mpiexec to the user with the hosts' names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clump::mpiexec {

/// Which process tells.
enum class Finder : char { kStarter = 's', kProxy = 'p' };

/// The line; `token` is that of final_status(), `code` mpiexec's exit code for it.
std::string trouble_line(const std::string& token, Finder finder, const std::string& host, int code,
                         const std::string& what);

class Troubles {
 public:
  /// A line without its token. False: it is another kind. Once proxies have begun, what ends the processes
  /// that have started them follows from something else, and is left out.
  bool take(std::string_view line, bool has_begun);
  bool any() const { return !all_.empty(); }
  /// Of the first one.
  int code() const { return all_.empty() ? 0 : all_.front().code; }
  /// A line for each kind, with all of its hosts.
  std::string text() const;

 private:
  struct Trouble {
    std::vector<std::string> hosts;
    int code;
    std::string what;
  };
  std::vector<Trouble> all_;
};

}  // namespace clump::mpiexec
