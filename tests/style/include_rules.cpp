#include "tests/style/include_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ohm::style {

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
      {"allocator_shim/base", {}},
      {"allocator_shim/observe", {"allocator_shim/base"}},
      {"allocator_shim/snapshot", {"allocator_shim/observe"}},
      {"allocator_shim/device", {"allocator_shim/observe"}},
      {"allocator_shim/caching", {"allocator_shim/device", "allocator_shim/snapshot"}},
      {"allocator_shim/replay", {"allocator_shim/caching"}},
      {"allocator_shim/fault", {"allocator_shim/device"}},
      {"allocator_shim/interpose", {"allocator_shim/fault"}},
      {"runtime/base", {}},
      {"runtime/cuda", {"allocator_shim/device"}},
      {"runtime/kernels/functors", {"runtime/base"}},
      {"runtime/kernels/cuda", {"runtime/kernels/functors", "allocator_shim/device"}},
      {"runtime/kernels/host", {"runtime/kernels/cuda"}},
      {"runtime/tensor", {"runtime/cuda", "runtime/kernels/cuda"}},
      {"runtime/lifetimes", {"runtime/tensor"}},
      {"runtime/kernels/launch", {"runtime/tensor", "runtime/kernels/host"}},
      {"runtime/arithmetic", {"runtime/kernels/launch"}},
      {"runtime/autograd", {"runtime/arithmetic", "runtime/lifetimes"}},
      {"runtime/ops/host", {"runtime/arithmetic"}},
      {"runtime/ops/cuda", {"runtime/ops/host"}},
      {"runtime/ops/*/host", {"runtime/ops/host"}},
      {"runtime/ops/*/cuda", {"runtime/ops/*/host", "runtime/ops/cuda"}},
      {"runtime/ops", {"runtime/autograd", "runtime/ops/*/cuda"}},
      {"runtime/nn", {"runtime/ops"}},
      {"runtime/optim", {"runtime/ops"}},
      {"runtime/data", {"runtime/tensor"}},
      {"runtime/amp", {"runtime/optim"}},
      {"runtime/parallel", {"runtime/nn"}},
      {"reports/model", {"allocator_shim/observe"}},
      {"reports/text", {"reports/model"}},
      {"reports/conclusion", {"reports/text"}},
      {"reports/history", {"reports/conclusion", "allocator_shim/snapshot"}},
      {"reports/json", {"reports/history"}},
      {"reports/console", {"reports/history"}},
      {"reports/html", {"reports/history"}},
      {"reports/ci", {"reports/text"}},
      {"reports", {"reports/ci", "reports/console", "reports/html", "reports/json"}},
      {"harness/process", {"reports/model"}},
      {"harness/scenario", {"harness/process"}},
      {"harness/checkpoint", {"harness/process", "reports/text"}},
      {"harness/machine",
       {"harness/scenario", "reports/history", "runtime/tensor", "allocator_shim/caching",
        "allocator_shim/fault"}},
      {"harness/judge",
       {"harness/scenario", "reports/text", "runtime/base", "allocator_shim/caching",
        "allocator_shim/fault"}},
      {"harness/gate", {"harness/judge", "reports/console", "reports/json"}},
      {"harness/exec", {"harness/gate", "allocator_shim/interpose"}},
      {"harness/replay", {"reports/history", "allocator_shim/replay"}},
      {"harness/run", {"harness/checkpoint", "harness/gate", "harness/machine", "runtime/nn"}},
      {"harness/fit", {"harness/exec", "harness/run", "allocator_shim/replay"}},
      {"harness/slurm", {"harness/checkpoint"}},
      {"harness/sweep", {"harness/run"}},
      {"harness/sweep/command", {"harness/sweep", "harness/exec"}},
      {"harness/verify", {"harness/run"}},
      {"harness/lua/vm", {"harness/scenario", "runtime/base", "allocator_shim/fault"}},
      {"harness/lua/bind", {"harness/lua/vm", "runtime/amp", "runtime/parallel"}},
      {"harness/lua/libraries", {"harness/lua/bind", "harness/sweep", "runtime/data"}},
      {"harness/lua/inspect", {"harness/lua/libraries"}},
      {"harness/lua", {"harness/lua/inspect"}},
      {"harness/cli",
       {"harness/lua", "harness/fit", "harness/replay", "harness/sweep/command", "harness/slurm",
        "harness/verify", "reports"}},
  };
  return kRooms;
}

namespace {

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
      {"CLI11",
       In::include,
       {"CLI/"},
       {"harness/cli/application.cpp", "harness/cli/option_parser.cpp"}},
      {"CUDA",
       In::include,
       {"cuda", "cublas", "cudnn", "curand", "cusolver", "cub/", "thrust/", "nccl", "nvml",
        "nvrtc"},
       {"allocator_shim/device/", "runtime/cuda/", ".cu", ".cuh"}},
      {"the frames of calls",
       In::include,
       {"runtime/lifetimes/call_frames.h"},
       {"runtime/lifetimes/", "runtime/nn/module.cpp", "harness/lua/bind/"}},
      {"unwinding", In::code, {"uncaught_exceptions"}, {"runtime/lifetimes/"}},
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
       {"harness/process/"}},
      {"entropy",
       In::code,
       {"random_device", "std::rand", "rand()", "srand", "rand_r", "drand48", "lrand48", "mrand48",
        "getrandom", "getentropy", "arc4random", "arc4random_uniform"},
       {"harness/process/"}},
  };
  return kFences;
}

/// Whether `folder` is what a row names; its `*` stands for any one folder.
bool is_named_by(std::string_view row, std::string_view folder) {
  const std::size_t star = row.find('*');
  if (star == std::string_view::npos) return row == folder;
  const std::string_view after = row.substr(star + 1);
  if (folder.size() < row.size() || !folder.starts_with(row.substr(0, star))) return false;
  if (!folder.ends_with(after)) return false;
  const std::string_view any = folder.substr(star, folder.size() - star - after.size());
  return any.find('/') == std::string_view::npos;
}

const Room* find_room(std::string_view folder) {
  const auto& all = rooms();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Room& r) { return is_named_by(r.folder, folder); });
  return found == all.end() ? nullptr : &*found;
}

/// The row of the innermost folder that has one.
const Room* room_of(std::string_view path) {
  for (std::size_t end = path.rfind('/'); end != std::string_view::npos;
       end = path.substr(0, end).rfind('/')) {
    if (const Room* room = find_room(path.substr(0, end))) return room;
  }
  return nullptr;
}

/// Throws std::logic_error for a room without a row.
const Room& room_named(std::string_view folder) {
  const Room* room = find_room(folder);
  if (room == nullptr) throw std::logic_error(fmt::format("no row for the room {}", folder));
  return *room;
}

bool may_include(const Room& from, const Room& to) {
  if (from.folder == to.folder) return true;
  return std::any_of(from.below.begin(), from.below.end(),
                     [&](std::string_view below) { return may_include(room_named(below), to); });
}

/// The rooms that the sources of each room include, by folder; a room without sources has none.
using IncludedRooms = std::map<std::string_view, std::set<std::string_view>>;

IncludedRooms included_rooms(const std::vector<SourceFile>& sources) {
  IncludedRooms included;
  for (const SourceFile& source : sources) {
    const Room* from = room_of(source.path);
    if (from == nullptr) continue;
    std::set<std::string_view>& rooms_of_source = included[from->folder];
    for (const Include& include : source.includes) {
      const Room* to = is_ours(include.path) ? room_of(include.path) : nullptr;
      if (to != nullptr && to != from) rooms_of_source.insert(to->folder);
    }
  }
  return included;
}

/// Whether a room may include another without one of its permissions.
bool may_include_without(const Room& from, const Room& to, std::string_view permission) {
  return std::any_of(from.below.begin(), from.below.end(), [&](std::string_view below) {
    return below != permission && may_include(room_named(below), to);
  });
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

bool is_allowed(const Fence& fence, std::string_view file) {
  return std::any_of(fence.allowed.begin(), fence.allowed.end(), [&](std::string_view place) {
    return file.starts_with(place) || file.ends_with(place);
  });
}

/// Why a file of `from` may not include this, or nothing.
std::optional<std::string> direction_breach(const Room& from, const Include& include) {
  if (!is_ours(include.path)) {
    if (!include.quoted) return std::nullopt;
    return fmt::format("\"{}\" is not written from the root of the tree", include.path);
  }
  const Room* to = room_of(include.path);
  if (to != nullptr && may_include(from, *to)) return std::nullopt;
  return fmt::format("{} may not include {}", from.folder,
                     to == nullptr ? std::string_view(include.path) : to->folder);
}

void check_directions(const SourceFile& source, std::vector<Breach>& breaches) {
  const Room* room = room_of(source.path);
  if (room == nullptr) {
    breaches.push_back({source.path, 0, "the file is in no folder of the table of rooms"});
    return;
  }
  for (const Include& include : source.includes) {
    if (auto breach = direction_breach(*room, include)) {
      breaches.push_back({source.path, include.line, std::move(*breach)});
    }
  }
}

bool includes_any(const Include& include, const std::vector<std::string_view>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view word) { return include.path.starts_with(word); });
}

/// The lines at which a source uses what is behind the fence.
std::vector<int> lines_with(const Fence& fence, const SourceFile& source) {
  std::vector<int> found;
  if (fence.in == Fence::In::include) {
    for (const Include& include : source.includes) {
      if (includes_any(include, fence.words)) found.push_back(include.line);
    }
    return found;
  }
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const auto is_in_line = [&](std::string_view word) { return has_word(source.lines[i], word); };
    if (std::any_of(fence.words.begin(), fence.words.end(), is_in_line)) {
      found.push_back(static_cast<int>(i) + 1);
    }
  }
  return found;
}

void check_fences(const SourceFile& source, std::vector<Breach>& breaches) {
  for (const Fence& fence : fences()) {
    if (is_allowed(fence, source.path)) continue;
    for (const int line : lines_with(fence, source)) {
      breaches.push_back(
          {source.path, line,
           fmt::format("{} is fenced in to {}", fence.name, fmt::join(fence.allowed, ", "))});
    }
  }
}

}  // namespace

std::vector<Breach> find_rule_breaches(const std::vector<SourceFile>& sources) {
  std::vector<Breach> breaches;
  for (const SourceFile& source : sources) {
    check_directions(source, breaches);
    check_fences(source, breaches);
  }
  return breaches;
}

std::vector<std::string> rooms_above_themselves(const std::vector<Room>& table) {
  std::vector<std::string> found;
  std::vector<std::string_view> settled;
  // Rows stand below those that they may include, so one pass sees every cycle.
  for (const Room& room : table) {
    const auto is_settled = [&](std::string_view below) {
      return std::find(settled.begin(), settled.end(), below) != settled.end();
    };
    if (!std::all_of(room.below.begin(), room.below.end(), is_settled)) {
      found.emplace_back(room.folder);
    }
    settled.push_back(room.folder);
  }
  return found;
}

std::vector<std::string> find_unused_permissions(const std::vector<SourceFile>& sources) {
  const IncludedRooms included = included_rooms(sources);
  std::vector<std::string> unused;
  for (const Room& room : rooms()) {
    const auto found = included.find(room.folder);
    if (found == included.end()) {
      unused.push_back(fmt::format("{} has no sources", room.folder));
      continue;
    }
    for (const std::string_view permission : room.below) {
      const bool is_needed =
          std::any_of(found->second.begin(), found->second.end(), [&](std::string_view to) {
            return !may_include_without(room, room_named(to), permission);
          });
      if (!is_needed) unused.push_back(fmt::format("{} needs no {}", room.folder, permission));
    }
  }
  return unused;
}

}  // namespace ohm::style
