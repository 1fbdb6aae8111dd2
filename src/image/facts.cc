#include "image/facts.h"

#include <cstddef>

#include "image/objects.h"
#include "image/rank_image.h"

// GCC knows the offsets of members also in classes with private members and in classes with references.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace clump::image {

std::size_t Image::place_of_instances() { return offsetof(Image, instances_); }

std::vector<base::Fact> facts() {
  return {{"image_instances", Image::place_of_instances()},
          {"instance_object", 0},  // a reference, the first member
          {"instance_delta", offsetof(Instance, delta)},
          {"object_path", offsetof(Object, path)},
          {"object_base", offsetof(Object, dynamic) + offsetof(Dynamic, base)}};
}

}  // namespace clump::image
