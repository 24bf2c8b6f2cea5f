#include "harness/cli/exec_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/cuda/shared_library.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/cli/option_values.h"
#include "harness/process/program_file.h"

namespace ohm::cli {

namespace {

struct ExecArguments {
  std::string gpu = interpose::kDefaultGpu;
  std::optional<int> gpus;
  std::string limit;
  std::vector<std::string> command;
};

/// The GPUs, as the preloaded library reads them.
std::string gpu_variable(const ExecArguments& arguments) {
  const GpuSelection selection =
      parsed("--gpu", [&] { return parse_gpu_selection(arguments.gpu); });
  std::string text = arguments.gpu;
  if (arguments.gpus) {
    if (selection.count) throw UsageError("--gpus: --gpu says how many already (count=)");
    text += fmt::format(",count={}", *arguments.gpus);
  }
  if (!arguments.limit.empty()) {
    const std::size_t bytes = parsed("--limit", [&] { return parse_bytes(arguments.limit); });
    if (bytes > selection.profile.capacity_bytes) {
      throw UsageError(fmt::format("--limit: {} is more than the {} of {}", arguments.limit,
                                   human_bytes(selection.profile.capacity_bytes),
                                   selection.profile.name));
    }
    text += fmt::format(",capacity={}", bytes);
  }
  parsed("--gpus, --limit", [&] { return parse_gpu_selection(text); });
  return text;
}

/// Where it is built or installed, seen from this program. Throws GpuUnavailable.
std::string preload_library() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  for (const char* place : {OHM_BUILT_PRELOAD, OHM_INSTALLED_PRELOAD}) {
    const std::filesystem::path path = (program.parent_path() / place).lexically_normal();
    if (!std::filesystem::exists(path)) continue;
    // What the loader takes for the end of a name.
    if (path.string().find_first_of(" :") != std::string::npos) {
      throw GpuUnavailable(fmt::format(
          "{} cannot be preloaded: there is a space or a colon in its path", path.string()));
    }
    return path;
  }
  throw GpuUnavailable(fmt::format("there is no libohm_preload.so beside {} (at {})",
                                   program.string(), OHM_INSTALLED_PRELOAD));
}

void check_environment() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (preloaded == nullptr || *preloaded == '\0') return;
  throw UsageError(fmt::format(
      "LD_PRELOAD is set already ({}): ohm exec preloads a library of its own; unset it",
      preloaded));
}

/// What this program ignores its successor would, too.
void restore_signals() {
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
}

/// This process becomes the program: its output, its signals and its exit status are the program's.
int become(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  restore_signals();
  execv(path.c_str(), words.data());
  throw UsageError(fmt::format("{} cannot be started: {}", path, std::strerror(errno)));
}

int exec(const ExecArguments& arguments) {
  const std::string gpus = gpu_variable(arguments);
  check_environment();
  const char* search_path = std::getenv("PATH");
  const std::string path = parsed("exec", [&] {
    const std::string found =
        engine::find_program(arguments.command.front(), search_path == nullptr ? "" : search_path);
    engine::check_preloadable(found);
    return found;
  });
  const std::string library = preload_library();
  setenv(interpose::kGpusVariable, gpus.c_str(), 1);
  setenv("LD_PRELOAD", library.c_str(), 1);
  return become(path, arguments.command);
}

}  // namespace

std::function<int()> setup_exec(CLI::App& app, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<ExecArguments>();
  app.add_option("--gpu", arguments->gpu,
                 fmt::format("NAME[,capacity=SIZE][,count=N] (default: {}); ohm gpus lists them",
                             interpose::kDefaultGpu))
      ->type_name("PROFILE");
  app.add_option("--gpus", arguments->gpus, "How many of them (default: 1)")->type_name("N");
  app.add_option("--limit", arguments->limit, "Memory of each GPU (default: all that it has)")
      ->type_name("SIZE")
      ->check(not_empty());
  app.add_option("COMMAND", arguments->command, "The program, with its arguments, after --")
      ->type_name("")
      ->required();
  return [arguments] { return exec(*arguments); };
}

}  // namespace ohm::cli
