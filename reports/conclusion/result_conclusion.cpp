#include "reports/conclusion/result_conclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "reports/conclusion/oom_advice.h"
#include "reports/conclusion/retained_cause.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

PrintedBytes exact(std::int64_t bytes) { return {static_cast<double>(bytes), 0}; }

std::int64_t alive_bytes(const OomResult& oom) {
  return std::accumulate(oom.alive_by_category.begin(), oom.alive_by_category.end(),
                         std::int64_t{0});
}

const FindingResult* finding_named(const VariantResult& variant, std::string_view pitfall) {
  const auto found = std::find_if(variant.findings.begin(), variant.findings.end(),
                                  [&](const FindingResult& one) { return one.pitfall == pitfall; });
  return found == variant.findings.end() ? nullptr : &*found;
}

ConclusionResult conclusion(std::string cause, std::string what, std::string remedy,
                            std::string scenario) {
  ConclusionResult made;
  made.cause = std::move(cause);
  made.what = std::move(what);
  made.remedy = std::move(remedy);
  made.scenario = std::move(scenario);
  return made;
}

std::int64_t evident_bytes(const FindingResult& finding) {
  std::int64_t bytes = 0;
  for (const FindingEvidence& one : finding.evidence) bytes += one.bytes;
  return bytes;
}

/// Where the bytes are made that show a finding.
void take_line(const FindingResult& finding, ConclusionResult& made) {
  if (finding.evidence.empty()) return;
  made.file = finding.evidence.front().file;
  made.line = finding.evidence.front().line;
}

void take_largest_line(const OomResult& oom, ConclusionResult& made) {
  if (oom.holders.empty()) return;
  made.file = oom.holders.front().file;
  made.line = oom.holders.front().line;
}

// ---- one function for each cause ----------------------------------------------------------------

std::optional<ConclusionResult> of_growth(const VariantResult& variant) {
  const FindingResult* const finding = finding_named(variant, "growth per step");
  if (finding == nullptr) return std::nullopt;
  ConclusionResult made = conclusion("growth", "memory " + finding->summary, "", finding->scenario);
  take_line(*finding, made);
  const RetainedResult* const holder = growing_holder(variant, evident_bytes(*finding));
  if (holder == nullptr) {
    made.remedy =
        "drop or detach what that line makes at the end of each step (.item(), .detach(), del)";
    return made;
  }
  made.what += ": " + holder_phrase(*holder);
  take_holder_line(*holder, made);
  made.remedy = holder_remedy(*holder);
  return made;
}

/// Backpropagation through time: too many steps, and no leak.
std::optional<ConclusionResult> of_unrolled_loop(const VariantResult& variant) {
  const RetainedResult* const holder =
      variant.oom ? unrolled_loop(variant, alive_bytes(*variant.oom)) : nullptr;
  if (holder == nullptr) return std::nullopt;
  ConclusionResult made = conclusion("full", "memory is full: " + holder_phrase(*holder),
                                     holder_remedy(*holder), "sequence_length");
  take_largest_line(*variant.oom, made);
  take_holder_line(*holder, made);
  return made;
}

std::optional<ConclusionResult> of_inference_with_gradients(const VariantResult& variant) {
  const FindingResult* const finding = finding_named(variant, "graphs without a backward pass");
  if (finding != nullptr) {
    ConclusionResult made =
        conclusion("without no_grad", finding->summary, kUnderNoGrad, finding->scenario);
    take_line(*finding, made);
    return made;
  }
  if (!variant.oom || !variant.retention || !variant.retention->call) return std::nullopt;
  const ModelCallResult& call = *variant.retention->call;
  const std::int64_t activations =
      variant.oom->alive_by_category[static_cast<std::size_t>(Category::activation)];
  const bool is_inference = call.has_gradients && !call.is_training && !call.trains;
  if (!is_inference || 4 * activations < alive_bytes(*variant.oom)) return std::nullopt;
  ConclusionResult made =
      conclusion("without no_grad",
                 fmt::format("{} builds graphs in eval mode: {} of activations, no backward pass",
                             function_text(call.function), short_bytes(activations)),
                 kUnderNoGrad, "missing_no_grad");
  made.file = call.file;
  made.line = call.line;
  return made;
}

std::optional<ConclusionResult> of_copies(const VariantResult& variant) {
  const FindingResult* const finding = finding_named(variant, "the same data twice");
  if (finding == nullptr) return std::nullopt;
  ConclusionResult made =
      conclusion("twice", finding->summary,
                 "load to the CPU (map_location=\"cpu\"), or delete one of the two when it is done",
                 finding->scenario);
  take_line(*finding, made);
  return made;
}

/// A container that holds most of what is alive, and not as part of a model's call. nullptr as well
/// where more is free in the allocator's cache than tensors hold.
const RetainedResult* filling_container(const VariantResult& variant) {
  if (!variant.oom) return nullptr;
  const OomResult& oom = *variant.oom;
  const std::int64_t alive = alive_bytes(oom);
  const bool is_mostly_cache = oom.reserved_bytes - oom.private_pool_bytes - alive > alive;
  return is_mostly_cache ? nullptr : holding_container(variant, alive);
}

std::optional<ConclusionResult> of_container(const VariantResult& variant) {
  const RetainedResult* const holder = filling_container(variant);
  if (holder == nullptr) return std::nullopt;
  ConclusionResult made =
      conclusion("kept", holder_phrase(*holder), holder_remedy(*holder),
                 holder->graph_bytes > 0 ? "leaked_loss_graph" : "retained_outputs");
  take_largest_line(*variant.oom, made);
  take_holder_line(*holder, made);
  return made;
}

/// A cache of keys, predictions: longer in each round of a loop.
std::optional<ConclusionResult> of_concatenation(const VariantResult& variant) {
  const RetainedResult* const holder = variant.oom
                                           ? concatenated_holder(variant, alive_bytes(*variant.oom))
                                           : collected_holder(variant);
  if (holder == nullptr) return std::nullopt;
  ConclusionResult made =
      conclusion("growth", holder_phrase(*holder), holder_remedy(*holder), "retained_outputs");
  if (variant.oom) take_largest_line(*variant.oom, made);
  take_holder_line(*holder, made);
  return made;
}

std::string_view name_of_cause(OomCause cause) {
  switch (cause) {
    case OomCause::too_large:
    case OomCause::large_request:
      return "large request";
    case OomCause::fraction:
      return "fraction";
    case OomCause::fragmented:
      return "fragmented";
    case OomCause::other_process:
      return "other process";
    case OomCause::outside:
      return "outside the allocator";
    case OomCause::private_pools:
      return "private pools";
    default:
      return "full";
  }
}

std::string without_end(std::string sentence) {
  while (sentence.ends_with('.') || sentence.ends_with(' ')) sentence.pop_back();
  if (!sentence.empty() && sentence[0] >= 'A' && sentence[0] <= 'Z' && sentence[1] >= 'a') {
    sentence[0] = static_cast<char>(sentence[0] - 'A' + 'a');
  }
  return sentence;
}

std::optional<ConclusionResult> of_card(const VariantResult& variant) {
  if (!variant.oom) return std::nullopt;
  const OomResult& oom = *variant.oom;
  const std::optional<OomMessage> figures = figures_of(oom);
  if (!figures) return std::nullopt;
  const OomCause cause = cause_of(*figures);
  const bool is_of_tensors = cause == OomCause::full || cause == OomCause::shared;
  if (is_of_tensors || cause == OomCause::not_said || cause == OomCause::cut_off) {
    return std::nullopt;
  }
  // The pieces themselves, where they are known, tell more than their sum does.
  const bool has_pieces = variant.history && !variant.history->devices.empty();
  if (cause == OomCause::fragmented && has_pieces &&
      finding_named(variant, "stranded split segments") == nullptr) {
    return std::nullopt;
  }
  const std::vector<std::string> pitfalls = pitfalls_of(cause);
  ConclusionResult made =
      conclusion(std::string(name_of_cause(cause)), without_end(cause_sentence(*figures)),
                 without_end(advice(*figures, {})), pitfalls.empty() ? "" : pitfalls.front());
  made.file = oom.file;
  made.line = oom.line;
  return made;
}

/// What no variable of the program explains.
std::optional<ConclusionResult> of_what_is_beside_tensors(const VariantResult& variant) {
  std::optional<ConclusionResult> made = of_card(variant);
  return made && made->cause != name_of_cause(OomCause::fragmented) ? made : std::nullopt;
}

std::optional<ConclusionResult> of_other_finding(const VariantResult& variant) {
  for (const FindingResult& finding : variant.findings) {
    if (finding.summary.empty()) continue;
    ConclusionResult made = conclusion(
        finding.pitfall, finding.summary,
        fmt::format("ohm explain {} shows what helps", finding.scenario), finding.scenario);
    take_line(finding, made);
    return made;
  }
  return std::nullopt;
}

/// What helps against most of what is held.
std::string remedy_against(Category category, bool has_gradients) {
  switch (category) {
    case Category::parameter:
      return "load parameters in a smaller dtype, or shard or quantize them";
    case Category::gradient:
      return "shard gradients, free them in the optimizer's hooks, or train fewer layers";
    case Category::optimizer_state:
      return "use an 8-bit optimizer or one with less state, or shard it";
    case Category::activation:
      return has_gradients ? "use a smaller batch, mixed precision, accumulation or checkpointing"
                           : "use a smaller batch or mixed precision";
    default:
      return "use smaller or fewer tensors, or keep them on the CPU";
  }
}

/// What grew and was let go before memory ran out.
bool is_gone(const FindingResult& growth, const OomResult& oom) {
  return evident_bytes(growth) > alive_bytes(oom) + oom.private_pool_bytes;
}

/// Whether the request would have failed without the growth, of which evidence is only a part.
bool is_too_little(const FindingResult& growth, const OomResult& oom) {
  constexpr double kMostTimes = 4;
  const std::optional<OomMessage> figures = figures_of(oom);
  return figures &&
         kMostTimes * static_cast<double>(evident_bytes(growth)) < missing_bytes(*figures).bytes;
}

std::optional<ConclusionResult> of_largest_category(const VariantResult& variant) {
  if (!variant.oom || variant.oom->holders.empty()) return std::nullopt;
  const OomResult& oom = *variant.oom;
  const auto most = std::max_element(oom.alive_by_category.begin(), oom.alive_by_category.end());
  const auto category = static_cast<Category>(most - oom.alive_by_category.begin());
  const bool has_call = variant.retention && variant.retention->call;
  const bool has_gradients = !has_call || variant.retention->call->has_gradients;
  std::string name(name_of(category));
  std::replace(name.begin(), name.end(), '_', ' ');
  ConclusionResult made = conclusion(
      "full",
      fmt::format("memory is full: {} of {} alive are {}{}", short_bytes(*most),
                  short_bytes(alive_bytes(oom)), name == "other" ? "of no known kind" : name,
                  category == Category::activation || category == Category::parameter ||
                          category == Category::gradient || category == Category::input
                      ? "s"
                      : ""),
      remedy_against(category, has_gradients), "batch_size");
  const auto holder =
      std::find_if(oom.holders.begin(), oom.holders.end(),
                   [&](const HolderResult& one) { return one.category == category; });
  if (holder != oom.holders.end()) {
    made.file = holder->file;
    made.line = holder->line;
  }
  return made;
}

}  // namespace

std::optional<OomMessage> figures_of(const OomResult& oom) {
  try {
    OomMessage message = parse_oom_message(oom.message);
    message.has_expandable_segments = message.has_expandable_segments || oom.expandable_segments;
    return message;
  } catch (const std::invalid_argument&) {
    if (oom.reserved_bytes == 0) return std::nullopt;
  }
  OomMessage figures;
  figures.requested = exact(oom.requested_bytes);
  figures.allocated = exact(alive_bytes(oom) + oom.private_pool_bytes);
  figures.reserved = exact(oom.reserved_bytes);
  if (oom.private_pool_bytes > 0) figures.private_pools = exact(oom.private_pool_bytes);
  if (oom.free_bytes > 0) figures.free = exact(oom.free_bytes);
  figures.has_expandable_segments = oom.expandable_segments;
  return figures;
}

void take_card_figures(OomResult& oom) {
  try {
    const CardUse use = use_of(parse_oom_message(oom.message));
    const auto bytes = [](const std::optional<PrintedBytes>& figure) {
      return figure ? std::max<std::int64_t>(0, static_cast<std::int64_t>(figure->bytes)) : 0;
    };
    if (use.pools) oom.private_pool_bytes = bytes(use.pools);
    oom.outside_bytes = bytes(use.outside);
    oom.other_process_bytes = bytes(use.others);
  } catch (const std::invalid_argument&) {
    return;  // a message of another kind tells nothing of the card
  }
}

void reject_contradicted(VariantResult& variant) {
  if (variant.oom) {
    std::erase_if(variant.findings, [&](const FindingResult& finding) {
      return finding.pitfall == "growth per step" &&
             (is_gone(finding, *variant.oom) || is_too_little(finding, *variant.oom));
    });
  }
  std::erase_if(variant.findings, [&](const FindingResult& finding) {
    if (finding.pitfall == "the same data twice") {
      return is_of_updated_copies(variant, evident_bytes(finding));
    }
    return finding.pitfall == "growth per step" &&
           is_meant_to_grow(variant, evident_bytes(finding));
  });
  const bool grows =
      finding_named(variant, "growth per step") != nullptr ||
      filling_container(variant) != nullptr ||
      (variant.oom && concatenated_holder(variant, alive_bytes(*variant.oom)) != nullptr);
  const auto is_contradicted = [&](const FindingResult& finding) {
    if (finding.pitfall != "stranded split segments") return false;
    if (grows || !variant.oom || variant.oom->expandable_segments) return true;
    const std::optional<OomMessage> figures = figures_of(*variant.oom);
    const std::optional<PrintedBytes> cache = figures ? unallocated(*figures) : std::nullopt;
    return cache &&
           is_less(sum(*cache, figures->free.value_or(PrintedBytes{})), figures->requested);
  };
  std::erase_if(variant.findings, is_contradicted);
}

std::optional<ConclusionResult> conclusion_of(const VariantResult& variant) {
  if (variant.oom && variant.oom->injected) return std::nullopt;
  for (const auto rule : {of_unrolled_loop, of_growth, of_inference_with_gradients,
                          of_what_is_beside_tensors, of_copies, of_container, of_concatenation,
                          of_card, of_other_finding, of_largest_category}) {
    if (std::optional<ConclusionResult> made = rule(variant)) return made;
  }
  return std::nullopt;
}

}  // namespace ohm::reports
