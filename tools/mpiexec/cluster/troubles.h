// What goes wrong on hosts before ranks run there, told by their proxies or found while these are started: a
// line for each kind, with the names of all hosts.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

class Troubles {
 public:
  /// `code`: mpiexec's exit code for it.
  void add(const std::string& host, int code, const std::string& what);
  bool any() const { return !all_.empty(); }
  /// Of the first one.
  int code() const { return all_.empty() ? 0 : all_.front().code; }
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
