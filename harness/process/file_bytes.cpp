#include "harness/process/file_bytes.h"

#include <fstream>
#include <sstream>

namespace ohm::engine {

std::string read_file_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace ohm::engine
