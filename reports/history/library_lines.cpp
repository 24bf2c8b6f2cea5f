#include "reports/history/library_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "reports/history/user_frames.h"
#include "reports/text/library_file.h"

namespace ohm::reports {

namespace {

/// The library's frames behind the program's line, innermost first.
using Chain = std::vector<FrameId>;

/// Members of one group, as indices.
using Group = std::vector<std::size_t>;

class LinesApart {
 public:
  LinesApart(const StackTable& tables, const UserFiles& files,
             const std::vector<LibraryCall>& calls)
      : tables_(tables), files_(files), calls_(calls), places_(calls.size()) {
    for (const LibraryCall& call : calls) chains_.push_back(chain_of(call.stack));
  }

  std::vector<std::string> texts() {
    Group all;
    for (std::size_t i = 0; i < chains_.size(); ++i) all.push_back(i);
    if (are_alike(all)) return std::vector<std::string>(calls_.size());
    std::map<std::string_view, Group> by_op;
    for (const std::size_t i : all) {
      places_[i] = innermost(chains_[i], {});
      by_op[calls_[i].op].push_back(i);
    }
    for (const auto& [op, group] : by_op) tell_apart(group);
    std::vector<std::string> texts;
    for (const auto& place : places_) texts.push_back(place ? text_of(*place) : "");
    return texts;
  }

 private:
  Chain chain_of(StackId stack) const {
    Chain chain;
    for (const FrameId id : tables_.stack(stack).first(library_frames(tables_, stack, files_))) {
      const StackFrame& frame = tables_.frame(id);
      if (!is_source_file(tables_.text(frame.filename))) continue;
      if (!passes_calls_on(tables_.text(frame.name))) chain.push_back(id);
    }
    return chain;
  }

  bool are_alike(const Group& group) const {
    return std::all_of(group.begin(), group.end(),
                       [&](std::size_t i) { return chains_[i] == chains_[group.front()]; });
  }

  /// Those that every member of the group comes by.
  std::set<FrameId> common(const Group& group) const {
    std::map<FrameId, std::size_t> members;
    for (const std::size_t i : group) {
      for (const FrameId id : std::set<FrameId>(chains_[i].begin(), chains_[i].end())) {
        ++members[id];
      }
    }
    std::set<FrameId> common;
    for (const auto& [id, count] : members) {
      if (count == group.size()) common.insert(id);
    }
    return common;
  }

  /// That is not PyTorch's own, of those that are not left out.
  std::optional<FrameId> innermost(const Chain& chain, const std::set<FrameId>& left_out) const {
    for (const FrameId id : chain) {
      const std::string_view file = tables_.text(tables_.frame(id).filename);
      if (left_out.count(id) == 0 && !is_pytorch_file(file)) return id;
    }
    return std::nullopt;
  }

  /// Another line of a package says more than one of PyTorch's.
  std::optional<FrameId> telling(const Chain& chain, const std::set<FrameId>& common) const {
    if (const auto of_package = innermost(chain, common)) return of_package;
    const auto own =
        std::find_if(chain.begin(), chain.end(), [&](FrameId id) { return common.count(id) == 0; });
    return own == chain.end() ? std::nullopt : std::optional(*own);
  }

  void tell_apart(const Group& group) {
    const std::set<FrameId> common = this->common(group);
    for (const std::size_t i : group) {
      const auto place = telling(chains_[i], common);
      if (place) places_[i] = place;
    }
  }

  std::string text_of(FrameId id) const {
    const StackFrame& frame = tables_.frame(id);
    return fmt::format("{}:{} {}", installed_path(tables_.text(frame.filename)), frame.line,
                       tables_.text(frame.name));
  }

  const StackTable& tables_;
  const UserFiles& files_;
  const std::vector<LibraryCall>& calls_;
  std::vector<Chain> chains_;
  std::vector<std::optional<FrameId>> places_;
};

}  // namespace

std::vector<std::string> library_lines(const StackTable& tables, const UserFiles& files,
                                       const std::vector<LibraryCall>& calls) {
  return LinesApart(tables, files, calls).texts();
}

}  // namespace ohm::reports
