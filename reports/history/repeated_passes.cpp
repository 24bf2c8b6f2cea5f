#include "reports/history/repeated_passes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/text/library_file.h"

namespace ohm::reports {

namespace {

/// The Python frames of a stack, the outermost first, and what they say of it.
struct Calls {
  std::vector<FrameId> frames;
  bool trains = false;        ///< in a backward pass, or in an optimizer
  bool is_in_module = false;  ///< called through a module, or in a function of PyTorch's
};

bool is_of_python(std::string_view file) { return file.ends_with(".py") || file.starts_with("<"); }

/// PyTorch's own loops are over layers, parameters, tensors.
bool is_of_pytorch(std::string_view file) {
  const bool has_folder = file.find('/') != std::string_view::npos;
  return has_folder ? file.find("/torch/") != std::string_view::npos : is_library_file(file);
}

bool is_module_call(std::string_view function) {
  return function == "forward" || function == "_call_impl" || function == "_wrapped_call_impl" ||
         function == "backward";
}

class StackReader {
 public:
  explicit StackReader(const StackTable& tables) : tables_(tables) {}

  const Calls& of(StackId stack) {
    const auto [known, is_new] = known_.try_emplace(stack);
    if (is_new) known->second = read(stack);
    return known->second;
  }

  const StackFrame& frame(FrameId id) const { return tables_.frame(id); }
  bool is_same_function(FrameId a, FrameId b) const {
    return frame(a).name == frame(b).name && frame(a).filename == frame(b).filename;
  }
  std::string_view function(FrameId id) const { return tables_.text(frame(id).name); }
  std::string_view file(FrameId id) const { return tables_.text(frame(id).filename); }

 private:
  Calls read(StackId stack) const {
    Calls calls;
    for (const FrameId id : tables_.stack(stack)) {
      const std::string_view file = tables_.text(frame(id).filename);
      if (!is_of_python(file)) continue;
      calls.frames.push_back(id);
      const std::string_view name = function(id);
      const bool is_optimizer = file.find("optim") != std::string_view::npos && name != "zero_grad";
      calls.trains = calls.trains || name == "backward" || is_optimizer;
      calls.is_in_module =
          calls.is_in_module || is_module_call(name) || file.ends_with("functional.py");
    }
    // Memory that no Python asked for is of autograd's threads.
    calls.trains = calls.trains || calls.frames.empty();
    std::reverse(calls.frames.begin(), calls.frames.end());
    return calls;
  }

  const StackTable& tables_;
  std::unordered_map<StackId, Calls> known_;
};

/// Requests that follow each other in one line of a function.
struct Stay {
  FrameId line = 0;
  std::size_t first = 0;  ///< index of the first request
  bool trains = false;
  bool is_in_module = true;  ///< all of them are
  bool calls_module = false;
};

struct Pass {
  std::size_t begin = 0;  ///< index into the stays
  std::size_t end = 0;
};

class PassFinder {
 public:
  PassFinder(const StackTable& tables, const std::vector<RecordedRequest>& requests,
             std::uint32_t last_event)
      : reader_(tables), requests_(requests), last_event_(last_event) {
    for (std::size_t i = 0; i < requests.size(); ++i) inside_.push_back(i);
  }

  /// From the outside in: a loop is looked for in one function after the other that all goes
  /// through.
  std::vector<std::uint32_t> run() {
    for (std::size_t depth = 0;; ++depth) {
      const std::optional<FrameId> call = commonest_function(depth);
      if (!call || is_module_call(reader_.function(*call))) return {};
      if (is_of_pytorch(reader_.file(*call))) return {};
      const std::vector<Stay> stays = stays_in(*call, depth);
      std::vector<std::uint32_t> ends = passes_through(stays);
      if (!ends.empty()) return ends;
      if (!go_into_heaviest_line(depth)) return {};
    }
  }

 private:
  /// A line of the function that most requests at this depth are in, if that is nearly all.
  std::optional<FrameId> commonest_function(std::size_t depth) {
    std::map<std::pair<TextId, TextId>, std::pair<std::size_t, FrameId>> functions;
    std::size_t known = 0;
    for (const std::size_t i : inside_) {
      const Calls& calls = reader_.of(requests_[i].stack);
      if (calls.frames.empty()) continue;
      ++known;
      if (calls.frames.size() <= depth) continue;
      const FrameId id = calls.frames[depth];
      auto& [count, line] = functions[{reader_.frame(id).name, reader_.frame(id).filename}];
      ++count;
      line = id;
    }
    const auto most = std::max_element(
        functions.begin(), functions.end(),
        [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    if (most == functions.end() || 10 * most->second.first < 8 * known) return std::nullopt;
    return most->second.second;
  }

  std::vector<Stay> stays_in(FrameId function, std::size_t depth) {
    std::vector<Stay> stays;
    for (const std::size_t i : inside_) {
      const Calls& calls = reader_.of(requests_[i].stack);
      const bool is_here =
          calls.frames.size() > depth && reader_.is_same_function(calls.frames[depth], function);
      // Threads have no line here: what they do belongs to where the program is.
      if (!is_here && stays.empty()) continue;
      if (is_here && (stays.empty() || stays.back().line != calls.frames[depth])) {
        stays.push_back({calls.frames[depth], i});
      }
      Stay& stay = stays.back();
      stay.trains = stay.trains || calls.trains;
      stay.is_in_module = stay.is_in_module && calls.is_in_module;
      stay.calls_module = stay.calls_module || calls.is_in_module;
    }
    return stays;
  }

  /// Follows what the line does in which most of the requests are.
  bool go_into_heaviest_line(std::size_t depth) {
    std::map<FrameId, std::vector<std::size_t>> lines;
    std::size_t known = 0;
    for (const std::size_t i : inside_) {
      const Calls& calls = reader_.of(requests_[i].stack);
      known += calls.frames.empty() ? 0 : 1;
      if (calls.frames.size() > depth + 1) lines[calls.frames[depth]].push_back(i);
    }
    const auto most = std::max_element(
        lines.begin(), lines.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == lines.end() || 2 * most->second.size() < known) return false;
    // Requests without a stack stay with those that they come between.
    std::vector<std::size_t> inside;
    const std::size_t first = most->second.front();
    const std::size_t last = most->second.back();
    for (const std::size_t i : inside_) {
      const Calls& calls = reader_.of(requests_[i].stack);
      const bool is_of_thread = calls.frames.empty() && first < i && i < last;
      const bool is_of_line = calls.frames.size() > depth && calls.frames[depth] == most->first;
      if (is_of_thread || is_of_line) inside.push_back(i);
    }
    inside_ = std::move(inside);
    return true;
  }

  /// Of the lines that the function comes back to, the one that it comes back to least often, and
  /// of several the first: the outermost loop.
  std::vector<std::uint32_t> passes_through(const std::vector<Stay>& stays) const {
    std::map<FrameId, std::vector<std::size_t>> entries;
    for (std::size_t i = 0; i < stays.size(); ++i) entries[stays[i].line].push_back(i);
    std::vector<std::vector<Pass>> loops;
    std::size_t fewest = stays.size();
    for (const auto& [line, at] : entries) {
      std::vector<Pass> passes = passes_at(stays, at);
      if (passes.empty()) continue;
      fewest = std::min(fewest, passes.size());
      loops.push_back(std::move(passes));
    }
    // From its second line on a loop has one whole pass less.
    std::vector<Pass> best;
    for (const std::vector<Pass>& passes : loops) {
      const bool is_outermost = passes.size() <= fewest + 1;
      if (is_outermost && (best.empty() || passes[0].begin < best[0].begin)) best = passes;
    }
    std::vector<std::uint32_t> ends;
    for (const Pass& pass : best) {
      const bool is_last = pass.end == stays.size();
      ends.push_back(is_last ? last_event_ : requests_[stays[pass.end].first].event - 1);
    }
    return ends;
  }

  static std::set<FrameId> lines_of(const std::vector<Stay>& stays, const Pass& pass) {
    std::set<FrameId> lines;
    for (std::size_t i = pass.begin; i < pass.end; ++i) lines.insert(stays[i].line);
    return lines;
  }

  static std::vector<Pass> passes_at(const std::vector<Stay>& stays,
                                     const std::vector<std::size_t>& entries) {
    if (entries.size() < kFewestPasses) return {};
    std::map<std::set<FrameId>, std::size_t> kinds;
    std::vector<Pass> passes;
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
      passes.push_back({entries[i], entries[i + 1]});
      ++kinds[lines_of(stays, passes.back())];
    }
    const auto usual =
        std::max_element(kinds.begin(), kinds.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::size_t alike = usual->second;
    // The last one ends where it leaves the lines of the others.
    Pass last{entries.back(), entries.back()};
    while (last.end < stays.size() && usual->first.count(stays[last.end].line) != 0) ++last.end;
    const bool is_whole = lines_of(stays, last) == usual->first;
    if (is_whole) {
      passes.push_back(last);
      ++alike;
    }
    const bool is_loop = usual->first.size() > 1 && alike >= kFewestPasses &&
                         2 * alike >= passes.size() && is_of_program(stays, passes.front());
    return is_loop ? passes : std::vector<Pass>();
  }

  /// Layers, too, are called again and again.
  static bool is_of_program(const std::vector<Stay>& stays, const Pass& pass) {
    const auto begin = stays.begin() + static_cast<std::ptrdiff_t>(pass.begin);
    const auto end = stays.begin() + static_cast<std::ptrdiff_t>(pass.end);
    if (std::any_of(begin, end, [](const Stay& stay) { return stay.trains; })) return true;
    const auto calls_module = [](const Stay& stay) { return stay.calls_module; };
    return !begin->is_in_module && !begin->calls_module && std::any_of(begin, end, calls_module);
  }

  StackReader reader_;
  const std::vector<RecordedRequest>& requests_;
  std::uint32_t last_event_;
  std::vector<std::size_t> inside_;  ///< requests that are looked at, by index
};

}  // namespace

std::vector<std::uint32_t> repeated_passes(const StackTable& tables,
                                           const std::vector<RecordedRequest>& requests,
                                           std::uint32_t last_event) {
  return PassFinder(tables, requests, last_event).run();
}

}  // namespace ohm::reports
