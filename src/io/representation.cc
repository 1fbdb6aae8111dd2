#include "io/representation.h"

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/lent_handle.h"
#include "core/rank.h"
#include "datatype/derive.h"
#include "datatype/external32.h"

namespace clump::io {

namespace {

using base::Status;
using core::LentHandle;
using datatype::Datatype;
using datatype::Layout;
using datatype::Made;

/// A type of other elements than `type`, made by the same procedure.
Status remade(const Datatype& type, std::span<const Datatype* const> components, Made& made) {
  const datatype::Recipe& recipe = type.recipe();
  const std::span<const Count> numbers(recipe.arguments);
  const Datatype& old = *components.front();
  const auto list = [&](std::size_t first, std::size_t count) { return numbers.subspan(first, count); };
  switch (recipe.combiner) {
    case MPI_COMBINER_DUP:
      return datatype::make_dup(old, made);
    case MPI_COMBINER_CONTIGUOUS:
      return datatype::make_contiguous(numbers[0], old, made);
    case MPI_COMBINER_VECTOR:
      return datatype::make_vector({numbers[0], numbers[1], numbers[2]}, old, made);
    case MPI_COMBINER_HVECTOR:
      return datatype::make_hvector({numbers[0], numbers[1], numbers[2]}, old, made);
    case MPI_COMBINER_RESIZED:
      return datatype::make_resized(old, numbers[0], numbers[1], made);
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const auto places = list(2, static_cast<std::size_t>(numbers[0]));
      return recipe.combiner == MPI_COMBINER_INDEXED_BLOCK
                 ? datatype::make_indexed_block(numbers[1], places, old, made)
                 : datatype::make_hindexed_block(numbers[1], places, old, made);
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: {
      const auto n = static_cast<std::size_t>(numbers[0]);
      const auto lengths = list(1, n), places = list(1 + n, n);
      if (recipe.combiner == MPI_COMBINER_STRUCT)
        return datatype::make_struct(lengths, places, components, made);
      return recipe.combiner == MPI_COMBINER_INDEXED ? datatype::make_indexed(lengths, places, old, made)
                                                     : datatype::make_hindexed(lengths, places, old, made);
    }
    case MPI_COMBINER_SUBARRAY: {
      const auto n = static_cast<std::size_t>(numbers[0]);
      return datatype::make_subarray(
          {list(1, n), list(1 + n, n), list(1 + 2 * n, n), static_cast<int>(numbers[1 + 3 * n])}, old, made);
    }
    case MPI_COMBINER_DARRAY: {
      const auto n = static_cast<std::size_t>(numbers[2]);
      std::array<std::vector<int>, 3> narrow;
      for (std::size_t i = 0; i < narrow.size(); ++i)
        for (const Count number : list(3 + (i + 1) * n, n)) narrow[i].push_back(static_cast<int>(number));
      return datatype::make_darray({static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), list(3, n),
                                    narrow[0], narrow[1], narrow[2], static_cast<int>(numbers[3 + 4 * n])},
                                   old, made);
    }
    default:
      return base::fail(MPI_ERR_UNSUPPORTED_DATAREP, "{} cannot be described in this data representation",
                        type.description());
  }
}

MPI_Datatype handle_of(const Datatype& type) { return core::handle_of<MPI_Datatype>(type.handle_value()); }

/// Calls visit(basic, n) for the basic elements of `count` elements of `type`, in the order of the type map,
/// rows of equal ones at once, until it returns false.
template <typename Visit>
bool for_each_row(const Datatype& type, Count count, Visit& visit) {
  if (count == 0 || type.size() == 0) return true;
  if (const Datatype* const basic = type.element())
    return visit(*basic, count * (type.size() / basic->size()));
  const datatype::Recipe& recipe = type.recipe();
  if (recipe.combiner != MPI_COMBINER_STRUCT) {
    const Datatype& component = *recipe.components.front();
    return for_each_row(component, count * (type.size() / component.size()), visit);
  }
  for (Count i = 0; i < count; ++i)
    for (std::size_t field = 0; field < recipe.components.size(); ++field)
      if (!for_each_row(*recipe.components[field], recipe.arguments[1 + field], visit)) return false;
  return true;
}

/// The number of basic elements in an element of `type`: this is what conversion functions count, and not
/// elements (MPI-5.0 section 14.5.3).
Count basics_of(const Datatype& type) {
  Count basics = 0;
  const auto add = [&](const Datatype&, Count more) {
    basics += more;
    return true;
  };
  static_cast<void>(for_each_row(type, 1, add));
  return basics;
}

Status of_users(const std::string& name, const char* what, int code) {
  if (code == MPI_SUCCESS) return {};
  return base::fail(MPI_ERR_CONVERSION, "the {} function of data representation \"{}\" has returned {}", what,
                    name, code);
}

}  // namespace

Status Representation::basic_bytes(const Datatype& basic, Count& bytes) const {
  bytes = basic.size();
  if (kind == Kind::kExternal32) bytes = datatype::external32_bytes(basic, 1);
  if (kind != Kind::kUsers) return {};
  if (!basic.is_predefined())
    return base::fail(MPI_ERR_UNSUPPORTED_DATAREP,
                      "{} has no handle that data representation \"{}\" could be asked about",
                      basic.description(), name);
  MPI_Aint extent = 0;
  CLUMP_TRY(of_users(name, "extent", functions.extent(handle_of(basic), &extent, functions.extra_state)));
  if (extent <= 0)
    return base::fail(MPI_ERR_CONVERSION, "the extent function of data representation \"{}\" says {} for {}",
                      name, extent, basic.description());
  bytes = extent;
  return {};
}

Status Representation::rebuild(const Datatype& type, datatype::Ref& result) const {
  Made made;
  if (type.is_basic()) {
    Count bytes = 0;
    CLUMP_TRY(basic_bytes(type, bytes));
    if (bytes == type.size() && type.is_dense()) {
      result = datatype::Ref(&type);
      return {};
    }
    CLUMP_TRY(datatype::make_contiguous(bytes, *datatype::predefined(MPI_BYTE), made));
    result = std::move(made.type);
    return {};
  }
  std::vector<datatype::Ref> kept;
  std::vector<const Datatype*> components;
  bool same = true;
  for (const datatype::Ref& component : type.recipe().components) {
    CLUMP_TRY(rebuild(*component, kept.emplace_back()));
    components.push_back(kept.back().get());
    same = same && kept.back().get() == component.get();
  }
  if (same || components.empty()) {
    result = datatype::Ref(&type);
    return {};
  }
  CLUMP_TRY(remade(type, components, made));
  result = std::move(made.type);
  return {};
}

Status Representation::in_file(const Datatype& type, datatype::Ref& result) const {
  if (kind != Kind::kNative) return rebuild(type, result);
  result = datatype::Ref(&type);
  return {};
}

Status Representation::bytes_in_file(const Datatype& type, Count count, Count& bytes) const {
  if (kind == Kind::kExternal32) {
    bytes = datatype::external32_bytes(type, count);
    return {};
  }
  datatype::Ref in_file_type;
  CLUMP_TRY(in_file(type, in_file_type));
  bytes = in_file_type->size() * count;
  return {};
}

/// Calls a function of the program for the first `basics` basic elements of a buffer. A function that counts
/// with int gets a longer buffer in parts.
Status Representation::convert(const Conversion& conversion, const Layout& users, const InFile& file,
                               Count basics, core::Rank& rank) const {
  if (basics == 0) return {};
  const LentHandle type(rank, *users.type);
  const char* const what = conversion.what;
  void* const state = functions.extra_state;
  if (conversion.large != nullptr)
    return of_users(name, what, conversion.large(users.base, type.handle, basics, file.bytes, 0, state));
  const Count of_element = basics_of(*users.type);
  if (of_element > INT_MAX)
    return base::fail(MPI_ERR_CONVERSION,
                      "an element of {} has {} basic elements, which the {} function of data representation "
                      "\"{}\" cannot count with int: register one with MPI_Register_datarep_c",
                      users.type->description(), of_element, what, name);
  const Count at_once = INT_MAX / of_element;
  for (Count first = 0, left = basics; left > 0; first += at_once) {
    const Count now = std::min(left, at_once * of_element);
    CLUMP_TRY(
        of_users(name, what,
                 conversion.small(datatype::part(users, first, 0).base, type.handle, static_cast<int>(now),
                                  file.bytes + first * file.element_bytes, 0, state)));
    left -= now;
  }
  return {};
}

/// For data that no function converts: it has the same bytes in the file.
Status Representation::check_equal(const Datatype& type, Count element_bytes) const {
  if (element_bytes == type.size()) return {};
  return base::fail(MPI_ERR_CONVERSION,
                    "data representation \"{}\" has MPI_CONVERSION_FN_NULL for this direction, so its extent "
                    "function has to say {} bytes for {}, and not {}",
                    name, type.size(), type.description(), element_bytes);
}

Status Representation::write(const InFile& out, const Layout& from, core::Rank& rank) const {
  if (kind == Kind::kExternal32) {
    datatype::pack_external32(out.bytes, from);
    return {};
  }
  const Conversion conversion{"write conversion", functions.write, functions.write_c};
  if (conversion.is_there()) return convert(conversion, from, out, from.count * basics_of(*from.type), rank);
  CLUMP_TRY(check_equal(*from.type, out.element_bytes));
  datatype::pack(std::span(out.bytes, static_cast<std::size_t>(from.bytes())), from, 0);
  return {};
}

Status Representation::read(const Layout& to, const InFile& in, core::Rank& rank, Count& native) const {
  native = 0;
  if (in.element_bytes == 0) return {};
  if (kind == Kind::kExternal32) {
    native = datatype::unpack_external32(to, in.bytes, in.size);
    return {};
  }
  const Conversion conversion{"read conversion", functions.read, functions.read_c};
  if (!conversion.is_there()) {
    CLUMP_TRY(check_equal(*to.type, in.element_bytes));
    datatype::unpack(to, 0, std::span(in.bytes, static_cast<std::size_t>(in.size)));
    native = in.size;
    return {};
  }
  // The file may end within an element: its first basic elements are data as well.
  const Count whole = in.size / in.element_bytes;
  Count basics = whole * basics_of(*to.type), bytes = whole * to.type->size();
  Count rest = in.size % in.element_bytes;
  Status outcome;
  const auto take = [&](const Datatype& basic, Count count) {
    Count each = 0;
    outcome = basic_bytes(basic, each);
    if (!outcome.ok()) return false;
    const Count complete = std::min(count, rest / each);
    basics += complete;
    bytes += complete * basic.size();
    rest -= complete * each;
    return complete == count;
  };
  if (rest > 0) static_cast<void>(for_each_row(*to.type, 1, take));
  CLUMP_TRY(outcome);
  CLUMP_TRY(convert(conversion, to, in, basics, rank));
  native = bytes;
  return {};
}

base::Ref<const Representation> Representations::find(const std::string& name) const {
  using Kind = Representation::Kind;
  static const auto& predefined = *new std::array<base::Ref<const Representation>, 3>{
      base::make_ref<const Representation>("native", Kind::kNative),
      base::make_ref<const Representation>("internal", Kind::kNative),
      base::make_ref<const Representation>("external32", Kind::kExternal32)};
  for (const auto& one : predefined)
    if (one->name == name) return one;
  const std::lock_guard lock(mutex_);
  const auto found = registered_.find(name);
  return found == registered_.end() ? base::Ref<const Representation>() : found->second;
}

Status Representations::add(base::Ref<const Representation> representation) {
  const std::string name = representation->name;
  bool is_new = !find(name);
  if (is_new) {
    const std::lock_guard lock(mutex_);
    is_new = registered_.emplace(name, std::move(representation)).second;
  }
  if (is_new) return {};
  return base::fail(MPI_ERR_DUP_DATAREP,
                    "(datarep = \"{}\"): there is a data representation of this name already", name);
}

void Representations::forget() {
  const std::lock_guard lock(mutex_);
  registered_.clear();
}

Representations& Representations::of(const core::Rank& rank) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<const core::Rank*, Representations>;
  const std::lock_guard lock(mutex);
  return all[&rank];
}

}  // namespace clump::io
