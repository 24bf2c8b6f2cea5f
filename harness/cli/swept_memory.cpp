#include "harness/cli/swept_memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/cli/command.h"
#include "harness/cli/option_values.h"
#include "harness/process/program_file.h"
#include "harness/sweep/command/host_memory.h"

namespace ohm::cli {

namespace {

/// Python itself, or a script of its.
bool is_python(const std::string& program) {
  const char* const search_path = std::getenv("PATH");
  const std::string path = engine::find_program(program, search_path == nullptr ? "" : search_path);
  if (std::filesystem::path(path).filename().string().starts_with("python")) return true;
  std::ifstream stream(path, std::ios::binary);
  std::string first_line;
  std::getline(stream, first_line);
  return first_line.starts_with("#!") && first_line.find("python") != std::string::npos;
}

/// Of what starts commands there may be one at a time. A program that fails without faults is not
/// swept at all, and says why here: without virtual GPUs it might fail for want of them.
bool asks_for_gpu_memory(const engine::TorchCommand& command) {
  if (!is_python(command.words.front())) return false;
  const engine::CountedCommand counted = engine::TorchMemory(command).count();
  return counted.calls.size() > 0 || counted.outcome.status != 0;
}

SweptMemory host_memory(const engine::TorchCommand& command) {
  if (command.in_scratch) {
    throw UsageError("--scratch: not supported for host memory");
  }
  const engine::HostCommand host = {command.words, command.engine, command.timeout_seconds,
                                    command.jobs};
  return {std::make_unique<engine::HostMemory>(host), true};
}

}  // namespace

SweptMemory swept_memory(const std::string& asked, const engine::TorchCommand& command,
                         bool is_about_gpus) {
  if (!asked.empty() && asked != "device" && asked != "host") {
    throw UsageError(fmt::format("--memory must be device or host, not \"{}\"", asked));
  }
  if (asked == "host") {
    if (is_about_gpus) {
      throw UsageError(
          "--gpu, --level, --check, --values and --assume-selected apply to device memory");
    }
    return host_memory(command);
  }
  const bool is_of_gpus = asked == "device" || is_about_gpus ||
                          parsed("sweep", [&] { return asks_for_gpu_memory(command); });
  if (!is_of_gpus) return host_memory(command);
  return {std::make_unique<engine::TorchMemory>(command), false};
}

}  // namespace ohm::cli
