#include "reports/history/repeated_passes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/history/function_loop.h"
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
  if (file.starts_with('<')) return false;  // <frozen runpy>, of python -m
  const bool has_folder = file.find('/') != std::string_view::npos;
  return has_folder ? file.find("/torch/") != std::string_view::npos : is_library_file(file);
}

/// @torch.no_grad() and the like, around a function of the program.
bool is_decorator(std::string_view function) {
  return function == "decorate_context" || function == "generator_context";
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
      const std::string_view name = function(id);
      if (!is_of_python(file) || is_decorator(name)) continue;
      calls.frames.push_back(id);
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
      if (ends.empty()) ends = passes_of_line(stays);
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
      stay.makes_data = stay.makes_data || (requests_[i].is_data && !calls.is_in_module);
    }
    return stays;
  }

  /// Of a loop on a single line, in which whole stacks repeat as lines do elsewhere. A few requests
  /// may be of lines before it and behind.
  std::vector<std::uint32_t> passes_of_line(const std::vector<Stay>& stays) {
    constexpr std::size_t kFewestPasses = 8;
    if (stays.empty()) return {};
    const auto [first, end] = requests_of_longest(stays);
    if (10 * (end - first) < 8 * (requests_.size() - stays.front().first)) return {};
    std::vector<Stay> stacks;
    for (const std::size_t i : inside_) {
      const StackId stack = requests_[i].stack;
      const Calls& calls = reader_.of(stack);
      if (i < first || i >= end || calls.frames.empty()) continue;
      const bool is_data = requests_[i].is_data && !calls.is_in_module;
      if (!stacks.empty() && stacks.back().line == static_cast<FrameId>(stack)) {
        stacks.back().makes_data = stacks.back().makes_data || is_data;
        continue;
      }
      // An optimizer's loop over parameters is no loop of the program.
      stacks.push_back(
          {static_cast<FrameId>(stack), i, false, calls.is_in_module, calls.is_in_module, is_data});
    }
    std::vector<std::uint32_t> ends = passes_through(stacks);
    return ends.size() < kFewestPasses ? std::vector<std::uint32_t>() : ends;
  }

  /// From its first to behind its last.
  std::pair<std::size_t, std::size_t> requests_of_longest(const std::vector<Stay>& stays) const {
    std::pair<std::size_t, std::size_t> longest;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const std::size_t end = i + 1 < stays.size() ? stays[i + 1].first : requests_.size();
      if (end - stays[i].first > longest.second - longest.first) longest = {stays[i].first, end};
    }
    return longest;
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

  std::vector<std::uint32_t> passes_through(const std::vector<Stay>& stays) const {
    std::vector<std::uint32_t> ends;
    for (const Pass& pass : outermost_loop(stays)) {
      const bool is_last = pass.end == stays.size();
      ends.push_back(is_last ? last_event_ : requests_[stays[pass.end].first].event - 1);
    }
    return ends;
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
