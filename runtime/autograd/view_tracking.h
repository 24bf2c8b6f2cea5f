// Tracking of views in the graph, and of what a write to one means to its base; see
// Note [Writing over views].
#pragma once

#include <string_view>

#include "runtime/autograd/view_of.h"

namespace ohm {

/// Notes that `view`, which has its node already, looks at elements of `input`. `origin`: what it
/// is while grad mode is on. Ops call track_view() (view_history.h).
void mark_view(const Tensor& view, const Tensor& input, ViewOrigin origin, const ViewNodes& nodes);

bool is_marked_view(const Tensor& tensor);

/// Nothing else looks at the elements of `view`: it is a tensor of its own.
void forget_view(const Tensor& view);

/// The view is one that a function with a backward of its own returned, alone or with others. Does
/// nothing to what is no view.
void set_view_origin(const Tensor& tensor, ViewOrigin origin);

/// `node`, of an op that wrote over `view`, becomes part of its base's history.
/// Pre-condition: it is a marked one.
void rebase_history(const Tensor& view, const IntrusivePtr<Node>& node);

/// Throws std::invalid_argument where an op that is recorded must not write over `tensor`: a leaf
/// that requires a gradient, a view of one, or a view that is no plain one in the graph.
void require_overwritable_history(const Tensor& tensor, std::string_view op);

}  // namespace ohm
