#include "reports/conclusion/retained_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// Most of it is saved by graphs, and not held as a value.
bool keeps_graphs(const RetainedResult& holder) { return 2 * holder.graph_bytes >= holder.bytes; }

bool are_scalars(const RetainedResult& holder) {
  return holder.tensors > 0 && 2 * holder.scalars > holder.tensors;
}

bool holds_weights(const RetainedResult& holder) {
  return holder.kind == "module" || holder.kind == "optimizer" || holder.kind == "updated";
}

bool is_container(const RetainedResult& holder) {
  return holder.kind == "list" || holder.kind == "dictionary" || holder.kind == "exception" ||
         holder.kind == "cache" || holder.kind == "state" || holder.kind == "models" ||
         holder.kind == "linked" || holder.kind == "filling" || holder.kind == "cycle";
}

/// Keys and values of a sequence, that each call of the model returns with more.
bool is_carried_cache(const RetainedResult& holder) {
  return holder.kind == "state" && !keeps_graphs(holder);
}

/// What a call of a model that was running holds, beside parameters.
std::int64_t bytes_in_model(const RetentionResult& retention) {
  std::int64_t bytes = 0;
  for (const RetainedResult& one : retention.entries) {
    if (one.is_in_model && !holds_weights(one)) bytes += one.bytes;
  }
  return bytes;
}

/// Sizes of what was requested on a line, in order.
std::vector<std::uint64_t> requests_on(const MemoryHistory& history, const RetainedResult& place) {
  std::vector<std::uint64_t> sizes;
  for (const DeviceMemoryHistory& device : history.devices) {
    for (const HistoryBlock& block : device.blocks) {
      const HistorySite& site = history.sites[block.site];
      if (site.line == place.line && site.file == place.file) sizes.push_back(block.bytes);
    }
  }
  return sizes;
}

/// Requests that get larger: what begins anew is rare.
bool get_larger(const std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kOfWhichOneIsSmaller = 10;
  if (sizes.size() < kFewest || sizes.back() <= sizes.front()) return false;
  std::size_t smaller = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) smaller += sizes[i] < sizes[i - 1] ? 1U : 0U;
  return kOfWhichOneIsSmaller * smaller <= sizes.size();
}

/// The line is run again and again.
bool grows_on_its_line(const VariantResult& variant, const RetainedResult& holder) {
  return variant.history && get_larger(requests_on(*variant.history, holder));
}

/// When memory ran out, what calls made that ask for more again and again.
std::int64_t bytes_of_growing_calls(const MemoryHistory& history) {
  struct Call {
    std::vector<std::uint64_t> sizes;
    std::uint64_t alive_bytes = 0;
  };
  std::map<std::pair<std::size_t, std::uint32_t>, Call> calls;
  const std::uint32_t moment = history.oom_event.value_or(history.events);
  for (std::size_t device = 0; device < history.devices.size(); ++device) {
    for (const HistoryBlock& block : history.devices[device].blocks) {
      Call& call = calls[{device, block.site}];
      call.sizes.push_back(block.bytes);
      if (block.begin <= moment && moment < block.end) call.alive_bytes += block.bytes;
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [place, call] : calls) bytes += get_larger(call.sizes) ? call.alive_bytes : 0;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::string function_text(const std::string& function) {
  return function.empty() || function.starts_with('<') ? "the script" : function + "()";
}

const RetainedResult* growing_holder(const VariantResult& variant, std::int64_t grown_bytes) {
  if (!variant.retention) return nullptr;
  const RetainedResult* largest = nullptr;
  for (const RetainedResult& one : variant.retention->entries) {
    if (holds_weights(one) || 4 * one.bytes < grown_bytes) continue;
    // What a step works on can hold more than what grows from step to step.
    if (is_container(one) && !one.is_in_model && one.bytes <= 2 * grown_bytes) return &one;
    if (largest == nullptr) largest = &one;
  }
  return largest;
}

const RetainedResult* holding_container(const VariantResult& variant, std::int64_t alive_bytes) {
  if (!variant.retention) return nullptr;
  constexpr std::int64_t kSeveral = 3;
  const std::int64_t in_model_bytes = bytes_in_model(*variant.retention);
  for (const RetainedResult& one : variant.retention->entries) {
    if (!is_container(one) || one.is_in_model || one.blocks < kSeveral) continue;
    // The next one is made beside it.
    const bool is_cache = is_carried_cache(one) && 4 * one.bytes >= alive_bytes;
    if (2 * one.bytes >= alive_bytes - (is_cache ? in_model_bytes : 0)) return &one;
  }
  return nullptr;
}

const RetainedResult* concatenated_holder(const VariantResult& variant, std::int64_t alive_bytes) {
  if (!variant.retention) return nullptr;
  const RetainedResult* largest = nullptr;
  std::int64_t bytes = 0;
  for (const RetainedResult& one : variant.retention->entries) {
    if (!one.is_concatenated || one.is_in_model || !grows_on_its_line(variant, one)) continue;
    bytes += one.bytes;
    if (largest == nullptr) largest = &one;
  }
  if (2 * bytes >= alive_bytes) return largest;
  // What is computed with all of it gets larger with it, as logits of all keys of a queue do.
  constexpr std::int64_t kLeastShare = 16;
  const bool grows_with_others = largest != nullptr && largest->kind == "buffer" &&
                                 kLeastShare * bytes >= alive_bytes &&
                                 2 * bytes_of_growing_calls(*variant.history) >= alive_bytes;
  return grows_with_others ? largest : nullptr;
}

const RetainedResult* collected_holder(const VariantResult& variant) {
  if (!variant.retention || variant.oom) return nullptr;
  std::int64_t peak_bytes = 0;
  for (const DeviceResult& device : variant.devices) {
    peak_bytes = std::max(peak_bytes, device.peak_allocated_bytes);
  }
  for (const RetainedResult& one : variant.retention->entries) {
    const bool holds_most =
        2 * one.bytes >= variant.retention->bytes && 4 * one.bytes >= peak_bytes;
    const bool is_only_collected = one.kind == "concatenation" && !one.is_in_model;
    if (holds_most && is_only_collected && grows_on_its_line(variant, one)) return &one;
  }
  return nullptr;
}

const RetainedResult* unrolled_loop(const VariantResult& variant, std::int64_t alive_bytes) {
  if (!variant.retention) return nullptr;
  for (const RetainedResult& one : variant.retention->entries) {
    if (one.kind == "unrolled" && !one.is_in_model && 2 * one.bytes >= alive_bytes) return &one;
  }
  return nullptr;
}

bool is_of_updated_copies(const VariantResult& variant, std::int64_t copied_bytes) {
  if (!variant.retention) return false;
  const auto& entries = variant.retention->entries;
  return std::any_of(entries.begin(), entries.end(), [&](const RetainedResult& one) {
    return one.kind == "updated" && 10 * one.bytes >= 9 * copied_bytes &&
           9 * one.bytes <= 10 * copied_bytes;
  });
}

bool is_meant_to_grow(const VariantResult& variant, std::int64_t grown_bytes) {
  if (variant.oom || !variant.retention) return false;
  const auto& entries = variant.retention->entries;
  return std::any_of(entries.begin(), entries.end(), [&](const RetainedResult& one) {
    return (one.kind == "filling" || one.kind == "unrolled") && 2 * one.bytes >= grown_bytes;
  });
}

std::string holder_phrase(const RetainedResult& holder) {
  const std::string where =
      fmt::format("`{}` in {}", holder.variable, function_text(holder.function));
  if (holder.kind == "unrolled") {
    return fmt::format("{} holds {} for one backward pass through all steps of its loop", where,
                       short_bytes(holder.bytes));
  }
  if (holder.kind == "cycle") {
    return fmt::format("reference cycles keep {} in {} tensors ({}) that no variable reaches",
                       short_bytes(holder.bytes), grouped(holder.blocks), holder.variable);
  }
  if (holder.kind == "exception") {
    return fmt::format("{} keeps an exception, and its frames {}", where,
                       short_bytes(holder.bytes));
  }
  if (holder.kind == "models") {
    return fmt::format("{} keeps models besides the one in training, {} in {} tensors", where,
                       short_bytes(holder.bytes), grouped(holder.blocks));
  }
  if (holder.is_concatenated) {
    return fmt::format("{} gets longer with each concatenation, to {} in {} tensor{}", where,
                       short_bytes(holder.bytes), grouped(holder.blocks),
                       holder.blocks == 1 ? "" : "s");
  }
  if (keeps_graphs(holder)) {
    return holder.tensors > 1 ? fmt::format("{} keeps {} graphs", where, grouped(holder.tensors))
                              : fmt::format("{} keeps every graph", where);
  }
  return fmt::format("{} keeps {} in {} tensor{}", where, short_bytes(holder.bytes),
                     grouped(holder.blocks), holder.blocks == 1 ? "" : "s");
}

std::string holder_remedy(const RetainedResult& holder) {
  if (holder.kind == "exception") {
    return "keep str(error) in place of the exception, or clear its __traceback__";
  }
  if (holder.kind == "models") {
    return "move them to the CPU and drop their optimizers, or keep only the best one";
  }
  if (holder.kind == "unrolled") {
    return "use fewer steps between backward passes (truncated backpropagation: detach the state "
           "every few steps), a smaller batch or checkpointing";
  }
  if (holder.kind == "cycle") {
    return "break the reference cycle (weakref.ref, or clear the attribute), or call gc.collect() "
           "once the objects are no longer needed";
  }
  if (holder.kind == "filling") return "lower its limit, or keep copies on the CPU (.cpu())";
  if (holder.kind == "cache") return "limit the cache (maxsize), or return copies on the CPU";
  if (holder.is_concatenated && !keeps_graphs(holder)) {
    return "limit its length, or collect the parts on the CPU; torch.cat() holds both copies at "
           "once";
  }
  if (is_carried_cache(holder)) {
    return "limit its length (a bounded or static cache), or drop it where a sequence ends";
  }
  if (!keeps_graphs(holder)) {
    return "keep fewer of them, or copies on the CPU (.cpu())";
  }
  if (holder.is_differentiated) {
    return "call backward() in each step, not once for the sum: gradients add up as well, and "
           "each graph is freed";
  }
  if (holder.kind == "result") {
    return "drop or detach it at the end of each step, and what else leads to the same graph "
           "(a state that a module or an object keeps)";
  }
  if (are_scalars(holder)) {
    return is_container(holder) ? "append the number, .item(), in place of the tensor"
                                : "add the number, .item(), in place of the tensor";
  }
  return is_container(holder)
             ? "keep .detach().cpu() in place of the tensor, or use no_grad"
             : fmt::format("detach it in each step: {0} = {0}.detach()", holder.variable);
}

void take_holder_line(const RetainedResult& holder, ConclusionResult& made) {
  if (holder.file.empty() || holder.line == 0) return;
  made.file = holder.file;
  made.line = holder.line;
}

}  // namespace ohm::reports
