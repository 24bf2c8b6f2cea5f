// The categories of a recorded device's allocations: what the record itself names, else what their
// stacks say, else how long they lived.
//
// A workspace that cuBLAS keeps is told by its size, where it is never freed. Scratch of an op is
// what is freed before anything that outlives it is allocated, under one stack. What autograd's
// thread frees was saved for backward.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "reports/history/recorded_sites.h"

namespace ohm::reports {

/// Of each entry of the device's trace; `other` of those that allocate nothing.
std::vector<Category> recorded_categories(const Snapshot& snapshot, std::size_t device,
                                          RecordedSites& sites);

/// That the record itself gives by this text, as ohm's own do; nullopt of any other text.
std::optional<Category> named_category(std::string_view text);

}  // namespace ohm::reports
