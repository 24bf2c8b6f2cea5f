// Self-attention of sequences of several lengths: see nested_rows.h and native_attention.h.
#pragma once

#include "runtime/ops/attention/native_attention.h"
#include "runtime/ops/attention/nested_rows.h"

namespace ohm::ops {

/// Through a kernel for sequences that lie behind one another, flash or memory-efficient, where
/// there is one and each sequence has two elements and more: it takes where each begins from two
/// temporaries. Else padded to a multiple of 8 elements, and step by step.
NestedRows nested_attention(const NestedRows& query, const AttentionParameters& parameters);

}  // namespace ohm::ops
