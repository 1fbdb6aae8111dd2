#include "job/records.h"

#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/new_file.h"
#include "common/places.h"
#include "common/terminal.h"
#include "output/output_buffer.h"
#include "profile/trace.h"

namespace clump::mpiexec {

namespace {

using tools::profile::Profile;
using tools::profile::Source;

// Events of a trace: at most so many of a rank, and of all; a file of some 150 bytes for each is to be
// opened.
constexpr std::int64_t kMostEvents = 100'000, kMostOfAll = 4'000'000;

// So long at least must the two moments be apart by which the clock's rate is found.
constexpr std::chrono::milliseconds kLeastTime{5};

/// Whether `path` could be written; `option` is what the user has typed.
base::Status check_file(const std::string& option, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return base::fail(MPI_ERR_BAD_FILE, "{}: the folder {} is not there: make it, or name another file",
                      option, folder.string());
  if (!S_ISDIR(info.st_mode))
    return base::fail(MPI_ERR_BAD_FILE, "{}: {} is no folder: name another file", option, folder.string());
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return base::fail(MPI_ERR_BAD_FILE, "{}: {} is a folder: name a file", option, path);
  if (std::string why; !tools::may_write(path, why))
    return base::fail(MPI_ERR_BAD_FILE, "{}: {} cannot be written ({}): name another file", option, path,
                      why);
  return {};
}

/// For a name of a file: control characters would come out of `ls` as well.
std::string without_control_characters(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  return name;
}

std::string join(const std::vector<Part>& parts) {
  std::string text = "mpiexec";
  for (const Part& part : parts) {
    text += fmt::format("{} -n {}", &part == &parts.front() ? "" : " :", part.ranks);
    for (const std::string& word : part.words) text += " " + word;
  }
  return text;
}

/// Says so if it cannot.
bool write_text(const std::string& path, const std::string& text) {
  tools::NewFile file(path);
  if (file) std::fwrite(text.data(), 1, text.size(), file.stream());  // finish() tells how it went
  if (file && file.finish()) return true;
  return say(fmt::format("cannot write {}: {}", path, file.why())), false;
}

}  // namespace

base::Status Records::prepare(const Command& command, const pmi::Job& job) {
  profile_ = command.profile;
  trace_ = command.trace.has_value();
  if (!are_wanted()) return {};
  if (command.proxy) return sender_.emplace(), base::Status();
  command_ = join(command.parts);
  program_ = std::filesystem::path(job.apps.front().program).filename().string();
  const std::string here = tools::current_directory();
  if (profile_) {
    std::string stem = command.profile_file.value_or("clump-profile-" + without_control_characters(program_));
    const std::string option = "--profile" + (command.profile_file ? "=" + stem : "");
    for (const char* const end : {".json", ".html"})
      if (stem.ends_with(end)) stem.resize(stem.size() - std::strlen(end));
    if (stem.empty() || stem.ends_with('/'))
      return base::fail(MPI_ERR_BAD_FILE, "{}: that is no name of a file", option);
    json_ = tools::absolute(stem + ".json", here);
    page_ = tools::absolute(stem + ".html", here);
    CLUMP_TRY(check_file(option, json_));
    CLUMP_TRY(check_file(option, page_));
  }
  if (!trace_) return {};
  if (command.trace->empty()) return base::fail(MPI_ERR_BAD_FILE, "--trace: the name of the file is missing");
  trace_file_ = tools::absolute(*command.trace, here);
  return check_file("--trace " + *command.trace, trace_file_);
}

void Records::note_start() {
  began_ = std::chrono::steady_clock::now();
  started_ = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

base::Status Records::begin(const pmi::Job& job) {
  const std::int64_t events =
      trace_ ? std::max<std::int64_t>(std::min(kMostEvents, kMostOfAll / job.ranks()), 1) : 0;
  CLUMP_TRY(record::Region::make(job.ranks(), events, descriptor_));
  note_start();
  start_ = tools::profile::now();
  if (sender_) sender_->begin(std::exchange(mpiexec_, -1), descriptor_, start_);
  return {};
}

bool Records::finish(const pmi::Job& job, int exit_code) {
  std::this_thread::sleep_until(began_ + kLeastTime);
  if (sender_) {
    if (!sender_->report())
      say(fmt::format("{}: the records of calls could not be sent", job.this_node().name));
    return true;
  }
  Source source{.host = job.node, .start = start_, .end = tools::profile::now()};
  if (const base::Status mapped = source.region.map(descriptor_); !mapped.ok())
    return say(base::message_of(mapped.code())), false;
  return write(job, {source}, exit_code);
}

bool Records::finish_collecting(const pmi::Job& job, int exit_code) {
  return write(job, collector_.finish(), exit_code);
}

bool Records::write(const pmi::Job& job, const std::vector<Source>& sources, int exit_code) const {
  Profile profile;
  profile.program = program_;
  profile.command = command_;
  profile.started = started_;
  profile.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  profile.exit_code = exit_code;
  tools::profile::describe(job, profile);
  for (int host = 0; host < static_cast<int>(job.nodes.size()); ++host)
    if (std::ranges::find(sources, host, &Source::host) == sources.end())
      profile.notes.push_back(
          fmt::format("no records came from {}", profile.hosts[static_cast<std::size_t>(host)]));
  for (const Source& source : sources) tools::profile::read(source, job, profile);
  bool is_written = true;
  if (profile_) {
    write_error(tools::profile::as_table(profile, tools::columns(STDERR_FILENO)));
    is_written = write_text(json_, tools::profile::as_json(profile)) &&
                 write_text(page_, tools::profile::as_page(profile));
    if (is_written) write_error(fmt::format("  written: {} and {}\n", json_, page_));
  }
  if (!trace_) return is_written;
  tools::profile::Traced traced;
  tools::NewFile file(trace_file_);
  if (file) tools::profile::write_trace(file.stream(), sources, job, profile, traced);
  if (!file || !file.finish()) return say(fmt::format("cannot write {}: {}", trace_file_, file.why())), false;
  write_error(fmt::format(
      "trace: {} calls, and {} messages as arrows, in {}{}\n", traced.events, traced.arrows, trace_file_,
      traced.dropped == 0
          ? ""
          : fmt::format("; {} calls more found no room (MPI_Pcontrol(0) and (1) choose what is "
                        "traced)",
                        traced.dropped)));
  return is_written;
}

}  // namespace clump::mpiexec
