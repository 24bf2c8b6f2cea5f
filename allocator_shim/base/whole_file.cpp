#include "allocator_shim/base/whole_file.h"

#include "allocator_shim/base/input_file.h"

namespace ohm {

std::string read_whole_file(const std::string& path) { return InputFile(path).rest(); }

}  // namespace ohm
