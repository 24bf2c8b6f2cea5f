#include "allocator_shim/interpose/host/fixed_path.h"

#include <cstring>

namespace ohm::interpose::host {

FixedPath::FixedPath(const char* folder, const char* name) {
  const std::size_t folder_bytes = std::strlen(folder);
  const std::size_t name_bytes = std::strlen(name);
  if (folder_bytes + name_bytes + 2 > text_.size()) return;
  std::memcpy(text_.data(), folder, folder_bytes);
  text_[folder_bytes] = '/';
  std::memcpy(text_.data() + folder_bytes + 1, name, name_bytes + 1);
}

}  // namespace ohm::interpose::host
