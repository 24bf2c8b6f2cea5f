// Files that are taken for memory snapshots, known by how they begin.
#pragma once

#include <string_view>

#include "allocator_shim/base/byte_window.h"

namespace ohm {

/// "a zip archive (torch.save writes such files)"; empty for a file that is not known.
std::string_view foreign_file_at(ByteWindow& begin);

}  // namespace ohm
