#include "io/representation.h"

#include <array>
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

Status Representation::write(std::byte* out, const Layout& from, core::Rank& rank) const {
  if (kind == Kind::kExternal32) {
    datatype::pack_external32(out, from);
    return {};
  }
  if (functions.write == nullptr &&
      functions.write_c == nullptr) {  // MPI_CONVERSION_FN_NULL: the data is as it is
    datatype::pack(std::span(out, static_cast<std::size_t>(from.bytes())), from, 0);
    return {};
  }
  const LentHandle type(rank, *from.type);
  const int code = functions.write_c != nullptr
                       ? functions.write_c(from.base, type.handle, from.count, out, 0, functions.extra_state)
                       : functions.write(from.base, type.handle, static_cast<int>(from.count), out, 0,
                                         functions.extra_state);
  return of_users(name, "write conversion", code);
}

Status Representation::read(const Layout& to, const std::byte* in, core::Rank& rank) const {
  if (kind == Kind::kExternal32) {
    datatype::unpack_external32(to, in);
    return {};
  }
  if (functions.read == nullptr && functions.read_c == nullptr) {
    datatype::unpack(to, 0, std::span(in, static_cast<std::size_t>(to.bytes())));
    return {};
  }
  const LentHandle type(rank, *to.type);
  void* const data = const_cast<std::byte*>(in);
  const int code =
      functions.read_c != nullptr
          ? functions.read_c(to.base, type.handle, to.count, data, 0, functions.extra_state)
          : functions.read(to.base, type.handle, static_cast<int>(to.count), data, 0, functions.extra_state);
  return of_users(name, "read conversion", code);
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
