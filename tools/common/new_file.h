// A file that a tool writes where others may write, too: it appears under its name as a whole.
#pragma once

#include <cstdio>
#include <string>

namespace clump::tools {

/// Written beside its name, under a random one, and renamed at the end. So a link or a FIFO that another user
/// has put in its place is replaced, and never followed or opened. The user's own ones are used: a link is
/// followed; a FIFO is written to if a process reads it, and so are devices and descriptors (/dev/stdout,
/// ">(...)").
class NewFile {
 public:
  /// False: why() says why not.
  explicit NewFile(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// If it is not finished, nothing is left of it.
  ~NewFile();

  explicit operator bool() const { return stream_ != nullptr; }
  std::FILE* stream() const { return stream_; }
  const std::string& why() const { return why_; }
  /// False: it could not be written, and the name has what it had before.
  bool finish();

 private:
  bool open(const std::string& path);
  bool open_beside(const std::string& path);
  bool fails(int error);

  std::FILE* stream_ = nullptr;
  std::string path_, temporary_;  ///< empty: it is written in place
  std::string why_;
};

/// Whether `path` could be written as NewFile does it; `why`: why not. Leaves nothing behind.
bool may_write(const std::string& path, std::string& why);

}  // namespace clump::tools
