// Python stacks as lines of a program, and what they say memory was for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"
#include "allocator_shim/observe/stack_table.h"
#include "reports/history/call_tree.h"
#include "reports/model/memory_history.h"
#include "reports/text/user_files.h"

namespace ohm::reports {

/// Ids in the order of their first use; 0 is of no stack.
class RecordedSites {
 public:
  /// `has_stacks`: the record has some. What has none then was made by a thread that runs no
  /// Python, which of PyTorch's are those of autograd. `files`: whose lines are named.
  RecordedSites(const StackTable& tables, bool has_stacks, UserFiles files = {})
      : tables_(tables),
        files_(std::move(files)),
        sites_(2),
        categories_(2, Category::other),
        calls_(tables, files_) {
    if (has_stacks) categories_[0] = Category::gradient;
    sites_[kBeforeRecord].op = "before the record";
  }

  /// Of what was there already, before lines were recorded.
  static constexpr SiteId kBeforeRecord = 1;

  SiteId of(StackId stack);

  /// Of what an autograd thread asks for, whose backward began with that stack. What has a line of
  /// the program's own keeps it.
  SiteId in_backward(StackId stack, StackId beginning);

  /// Gives sites that share one line of the program's own the library's lines behind it; what comes
  /// later has none.
  void tell_apart();

  /// The innermost line of the user's own (user_frames.h), and the op that asked for the memory: by
  /// the native frames of the stack, else the library's function that was called, a module's kind,
  /// or the user's own function, as in a program without Python (native_frames.h); and the module
  /// that was running, where frames name it.
  const HistorySite& at(SiteId id) const { return sites_[id]; }

  /// Whether the innermost Python frame is a library's, which calls one op at a time.
  bool is_within_library(StackId stack) const;

  /// By the names of functions: an optimizer's, backward, forward, what moves a module or loads
  /// data. What says nothing is `other`.
  Category category_of(SiteId id) const { return categories_[id]; }

  /// The sites and their stacks go to `history`.
  void move_to(MemoryHistory& history);

 private:
  SiteId add(HistorySite site, Category category);
  HistorySite site_of(StackId stack) const;
  std::string op_of(StackId stack) const;
  std::string native_function(StackId stack) const;
  std::string module_of(StackId stack) const;
  Category told_by(StackId stack) const;
  bool is_of_replicas(StackId stack) const;
  bool is_of_autograd_thread(StackId stack) const;
  Ownership ownership_of(const HistorySite& site) const;
  bool is_library(std::string_view file) const {
    return files_.ownership(file) == Ownership::library;
  }

  const StackTable& tables_;
  UserFiles files_;
  std::vector<HistorySite> sites_;
  std::vector<Category> categories_;
  std::unordered_map<StackId, SiteId> ids_;
  std::map<std::pair<StackId, StackId>, SiteId> ids_in_backward_;
  CallTree calls_;
};

}  // namespace ohm::reports
