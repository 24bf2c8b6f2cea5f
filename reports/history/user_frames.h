// Which frame of a stack a report names: one rule for every output.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "allocator_shim/observe/stack_table.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "reports/text/user_files.h"

namespace ohm::reports {

/// The user's folders as ohm's recorder noted them in the snapshot; of other snapshots none are
/// known.
UserFiles user_files_of(const Snapshot& snapshot);

/// Whether an annotation of this name is such a note.
bool is_user_folder_note(std::string_view name);

/// The place in the stack, the innermost frame first, of the innermost frame in the user's folders;
/// without one, of the innermost that is no library's; without one, of the innermost of Python, or
/// of a scenario. None: all are native.
std::optional<std::size_t> named_frame(const StackTable& tables, StackId stack,
                                       const UserFiles& files);

/// How many frames stand within the one that is named: the library's behind the user's line. All of
/// them where the user has no line.
std::size_t library_frames(const StackTable& tables, StackId stack, const UserFiles& files);

}  // namespace ohm::reports
