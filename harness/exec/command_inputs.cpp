#include "harness/exec/command_inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "allocator_shim/fault/fault_point.h"
#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace {

std::string hash_of(std::string_view text) {
  return fmt::format("{:016x}", PointHash().add(text).value());
}

}  // namespace

std::vector<ShardInput> command_inputs(const std::vector<std::string>& words) {
  const std::string command = shell_command(words);
  std::vector<ShardInput> inputs = {{command, hash_of(command)}};
  for (const std::string& word : words) {
    if (!std::filesystem::is_regular_file(word)) continue;
    std::ifstream stream(word, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    inputs.push_back({word, hash_of(text.str())});
  }
  return inputs;
}

}  // namespace ohm::engine
