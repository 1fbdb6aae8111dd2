#include "mpi/dynamic/port_name.h"

#include <fmt/ranges.h>
#include <string.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace clump::mpi {

namespace {

template <typename Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_address(std::string_view text, net::link::Location& where) {
  if (text.size() != 2 * where.address.size()) return false;
  for (std::size_t i = 0; i < where.address.size(); ++i)
    if (!read_number(text.substr(2 * i, 2), where.address[i], 16)) return false;
  return true;
}

}  // namespace

std::string PortName::text() const {
  return fmt::format("clump:{}:{}:{}:{:016x}:{:016x}:{:016x}:{:02x}:{}:{}:{:016x}", job, rank, process,
                     link.id, link.token, where.host, fmt::join(where.address, ""), where.port, port, token);
}

bool read_port_name(std::string_view text, PortName& name) {
  std::array<std::string_view, 11> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i + 1 < parts.size() ? text.find(':') : text.size();
    if (end == std::string_view::npos) return false;
    parts[i] = text.substr(0, end);
    text.remove_prefix(i + 1 < parts.size() ? end + 1 : end);
  }
  name.job = parts[1];
  return parts[0] == "clump" && read_number(parts[2], name.rank) && read_number(parts[3], name.process) &&
         read_number(parts[4], name.link.id, 16) && read_number(parts[5], name.link.token, 16) &&
         read_number(parts[6], name.where.host, 16) && read_address(parts[7], name.where) &&
         read_number(parts[8], name.where.port) && read_number(parts[9], name.port) &&
         read_number(parts[10], name.token, 16) && name.rank >= 0;
}

std::string_view text_of(const char* port_name) { return {port_name, strnlen(port_name, MPI_MAX_PORT_NAME)}; }

base::Status no_port(std::string_view text) {
  return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): no port has such a name; MPI_Open_port makes them",
                    text);
}

}  // namespace clump::mpi
