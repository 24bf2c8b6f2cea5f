// What a variable that keeps memory alive is called, and what to do about it.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

inline constexpr const char* kUnderNoGrad =
    "run it under torch.no_grad() (or torch.inference_mode()), around the call of the model";

/// "main()"; "the script" of code that is in no function.
std::string function_text(const std::string& function);

/// Of a variant whose memory grew by these bytes: the variable that holds a good part of them.
/// nullptr: none is known, or it is a model's or an optimizer's.
const RetainedResult* growing_holder(const VariantResult& variant, std::int64_t grown_bytes);

/// A list or the like that holds at least half of these bytes, in several tensors, beside the calls
/// of models. nullptr: none does.
const RetainedResult* holding_container(const VariantResult& variant, std::int64_t alive_bytes);

/// Tensors beside the calls of models that the program replaces by themselves and more, in requests
/// that get larger, and that hold at least half of these bytes together, or with what gets larger
/// as they do: the largest. nullptr: they do not.
const RetainedResult* concatenated_holder(const VariantResult& variant, std::int64_t alive_bytes);

/// Of a program that did not run out of memory: what it concatenates in a loop that does nothing
/// else with it, and that holds at least half of what is kept, and a good part of the peak.
/// nullptr: nothing does.
const RetainedResult* collected_holder(const VariantResult& variant);

/// What a loop makes for one backward pass behind it, at least half of these bytes. nullptr:
/// nothing is known to be.
const RetainedResult* unrolled_loop(const VariantResult& variant, std::int64_t alive_bytes);

/// Of a program that did not run out of memory: whether a container that it limits, or such a loop,
/// holds a good part of the bytes by which its memory grew.
bool is_meant_to_grow(const VariantResult& variant, std::int64_t grown_bytes);

/// Whether copies of weights of about so many bytes change in each step, as averages do.
bool is_of_updated_copies(const VariantResult& variant, std::int64_t copied_bytes);

/// "`losses` in main() keeps 41 graphs".
std::string holder_phrase(const RetainedResult& holder);

/// For a list of losses, a hidden state, an exception.
std::string holder_remedy(const RetainedResult& holder);

void take_holder_line(const RetainedResult& holder, ConclusionResult& made);

}  // namespace ohm::reports
