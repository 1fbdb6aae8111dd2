#include "diag/symbolize.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace clump::diag {

namespace {

int find_none(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks callbacks_with(decltype(Dwfl_Callbacks::find_debuginfo) find_debuginfo) {
  return {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };
}
const Dwfl_Callbacks kFileItself = callbacks_with(find_none);
const Dwfl_Callbacks kOtherFilesToo = callbacks_with(dwfl_standard_find_debuginfo);

/// The demangled name; a C function's name as it is. __cxa_demangle() also reads bare types, and would make
/// `float` of `f`.
std::string demangle(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 ? readable : name;
  std::free(readable);
  return text;
}

}  // namespace

std::string mpi_call(std::string function) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  if (const std::size_t at = function.find(kUnnamed); at != function.npos)
    function.erase(0, at + kUnnamed.size());
  function.erase(std::min(function.find_first_of(".("), function.size()));
  if (const std::size_t space = function.rfind("::"); space != function.npos) function.erase(0, space + 2);
  for (const std::string_view prefix : {"checked_", "recorded_", "PMPI_", "MPI_"})
    if (function.starts_with(prefix)) function.erase(0, prefix.size());
  const bool is_known = !function.empty() && function.front() >= 'A' && function.front() <= 'Z';
  return is_known ? "MPI_" + function : "MPI";
}

Symbolizer::Symbolizer(Search search) : search_(search) {
  if (search == Search::kOtherFilesToo)
    ::unsetenv("DEBUGINFOD_URLS");  // libdw would fetch debugging information over the network
}

Symbolizer::~Symbolizer() {
  for (auto& [path, object] : objects_) dwfl_end(object.session);
}

const Symbolizer::Object& Symbolizer::open(const std::string& path) {
  auto [at, fresh] = objects_.try_emplace(path);
  Object& object = at->second;
  if (!fresh) return object;
  object.session = dwfl_begin(search_ == Search::kFileItself ? &kFileItself : &kOtherFilesToo);
  if (object.session == nullptr) return object;
  dwfl_report_begin(object.session);
  object.module = dwfl_report_offline(object.session, path.c_str(), path.c_str(), -1);
  dwfl_report_end(object.session, nullptr, nullptr);
  if (object.module != nullptr) {
    GElf_Addr bias = 0;
    if (dwfl_module_getelf(object.module, &bias) != nullptr) object.bias = bias;
  }
  return object;
}

Place Symbolizer::place(const pmi::Frame& frame) {
  Place found;
  if (!frame.function.empty()) return {frame.function, frame.object, static_cast<int>(frame.address)};
  if (frame.object.empty()) return found;
  const Object& object = open(frame.object);
  if (object.module == nullptr) return found;
  const GElf_Addr address = frame.address + object.bias;
  if (const char* name = dwfl_module_addrname(object.module, address); name != nullptr)
    found.function = demangle(name);
  if (Dwfl_Line* line = dwfl_module_getsrc(object.module, address); line != nullptr) {
    const char* file = dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr);
    if (file != nullptr) found.file = file;
  }
  return found;
}

}  // namespace clump::diag
