#include "tests/style/include_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ohm::style {
namespace {

/// A folder and those below it: it may include these, and what these may include.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> below;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = {
      {"allocator_shim/observe", {}},
      {"allocator_shim/device", {"allocator_shim/observe"}},
      {"allocator_shim/caching", {"allocator_shim/device"}},
      {"allocator_shim/replay", {"allocator_shim/caching"}},
      {"allocator_shim/fault", {"allocator_shim/device"}},
      {"allocator_shim/interpose", {"allocator_shim/caching", "allocator_shim/fault"}},
      {"runtime/tensor", {"allocator_shim/caching"}},
      {"runtime/autograd", {"runtime/tensor"}},
      {"runtime/ops", {"runtime/autograd"}},
      {"runtime/nn", {"runtime/ops"}},
      {"runtime/optim", {"runtime/ops"}},
      {"runtime/data", {"runtime/ops"}},
      {"runtime/amp", {"runtime/nn", "runtime/optim"}},
      {"runtime/parallel", {"runtime/amp"}},
      {"reports", {"allocator_shim/observe"}},
      {"harness/engine",
       {"reports", "runtime/parallel", "runtime/data", "allocator_shim/fault",
        "allocator_shim/replay"}},
      {"harness/lua", {"harness/engine"}},
      {"harness/cli", {"harness/lua"}},
  };
  return kLayers;
}

/// What may be used in some folders only: beginnings of what stands between the brackets of an
/// #include, or words of the code (comments and literals do not count).
struct Fence {
  enum class In { include, code };
  std::string_view name;
  In in;
  std::vector<std::string_view> words;
  std::vector<std::string_view> allowed;  ///< beginnings or ends of paths
};

const std::vector<Fence>& fences() {
  using In = Fence::In;
  static const std::vector<Fence> kFences = {
      {"Lua",
       In::include,
       {"lua.h", "lua5.4/", "luaconf.h", "lauxlib.h", "lualib.h"},
       {"harness/lua/"}},
      {"CLI11", In::include, {"CLI/"}, {"harness/cli/"}},
      {"CUDA",
       In::include,
       {"cuda", "cublas", "cudnn", "curand", "cusolver", "cub/", "thrust/", "nccl", "nvml",
        "nvrtc"},
       {"allocator_shim/device/", ".cu", ".cuh"}},
      {"dlsym",
       In::code,
       {"dlopen", "dlsym", "dlvsym"},
       {"allocator_shim/interpose/", "allocator_shim/device/"}},
      {"the clock",
       In::code,
       {"system_clock", "steady_clock", "high_resolution_clock", "utc_clock", "file_clock",
        "clock_gettime", "gettimeofday", "timespec_get", "localtime", "localtime_r", "gmtime",
        "gmtime_r", "std::time", "time(nullptr", "time(NULL", "time(0", "time(&", "std::clock",
        "clock()"},
       {"harness/engine/"}},
      {"entropy",
       In::code,
       {"random_device", "std::rand", "rand()", "srand", "rand_r", "drand48", "lrand48", "mrand48",
        "getrandom", "getentropy", "arc4random", "arc4random_uniform"},
       {"harness/engine/"}},
  };
  return kFences;
}

bool is_inside(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

const Layer* layer_of(std::string_view path) {
  const auto& all = layers();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Layer& l) { return is_inside(path, l.folder); });
  return found == all.end() ? nullptr : &*found;
}

const Layer& layer(std::string_view folder) {
  const auto& all = layers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Layer& l) { return l.folder == folder; });
  if (found == all.end()) throw std::logic_error(fmt::format("no layer {}", folder));
  return *found;
}

bool may_include(const Layer& from, const Layer& to) {
  if (from.folder == to.folder) return true;
  return std::any_of(from.below.begin(), from.below.end(),
                     [&](std::string_view below) { return may_include(layer(below), to); });
}

constexpr std::array<std::string_view, 4> kTopFolders = {"allocator_shim", "runtime", "reports",
                                                         "harness"};

bool is_ours(std::string_view included) {
  return std::any_of(kTopFolders.begin(), kTopFolders.end(),
                     [&](std::string_view top) { return is_inside(included, top); });
}

struct Include {
  std::string path;
  bool quoted = false;
};

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::optional<Include> include_of(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = without_blanks(line.substr(std::string_view("include").size()));
  const bool quoted = line.starts_with('"');
  if (!quoted && !line.starts_with('<')) return std::nullopt;
  return Include{std::string(line.substr(1, line.find_first_of("\">", 1) - 1)), quoted};
}

bool is_word_character(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether `word` stands in the line and is not a part of a longer word.
bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_character(line[at - 1]);
    const bool ends =
        !is_word_character(word.back()) || end == line.size() || !is_word_character(line[end]);
    if (starts && ends) return true;
  }
  return false;
}

bool touches(const Fence& fence, std::string_view line, const std::optional<Include>& include) {
  const bool is_include = include.has_value();
  if (is_include != (fence.in == Fence::In::include)) return false;
  return std::any_of(fence.words.begin(), fence.words.end(), [&](std::string_view word) {
    return is_include ? include->path.starts_with(word) : has_word(line, word);
  });
}

/// Why `from` may not include this, or nothing.
std::optional<std::string> direction_breach(const Layer& from, const Include& include) {
  if (!is_ours(include.path)) {
    if (!include.quoted) return std::nullopt;
    return fmt::format("\"{}\" is not written from the root of the tree", include.path);
  }
  const Layer* to = layer_of(include.path);
  if (to != nullptr && may_include(from, *to)) return std::nullopt;
  return fmt::format("{} may not include {}", from.folder,
                     to == nullptr ? std::string_view(include.path) : to->folder);
}

bool is_allowed(const Fence& fence, std::string_view file) {
  return std::any_of(fence.allowed.begin(), fence.allowed.end(), [&](std::string_view place) {
    return file.starts_with(place) || file.ends_with(place);
  });
}

class FileCheck {
 public:
  FileCheck(std::string file, std::vector<Breach>& breaches)
      : file_(std::move(file)), layer_(layer_of(file_)), breaches_(breaches) {}

  void run(const std::string& text) {
    if (layer_ == nullptr) report("the file is in no folder of the table of layers");
    std::istringstream lines(code_of(text));
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      check(line);
    }
  }

 private:
  void check(const std::string& line) {
    const std::optional<Include> include = include_of(line);
    if (include && layer_ != nullptr) {
      if (const auto breach = direction_breach(*layer_, *include)) report(*breach);
    }
    for (const Fence& fence : fences()) {
      if (touches(fence, line, include) && !is_allowed(fence, file_)) {
        report(fmt::format("{} is fenced in to {}", fence.name, fmt::join(fence.allowed, ", ")));
      }
    }
  }

  void report(std::string what) { breaches_.push_back({file_, line_, std::move(what)}); }

  std::string file_;
  const Layer* layer_;
  std::vector<Breach>& breaches_;
  int line_ = 0;
};

bool is_source(const std::filesystem::path& path) {
  static const std::array<std::string_view, 5> kExtensions = {".h", ".cpp", ".cu", ".cuh", ".inc"};
  const std::string extension = path.extension().string();
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<Breach> find_breaches(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const std::string_view top : kTopFolders) {
    if (!std::filesystem::is_directory(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Breach> breaches;
  for (const auto& file : files) {
    FileCheck(file.lexically_relative(root).generic_string(), breaches).run(read_text(file));
  }
  return breaches;
}

}  // namespace ohm::style
