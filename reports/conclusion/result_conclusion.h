// The conclusion from a record: the rules that choose one cause, and reject what figures
// contradict.
#pragma once

#include <optional>

#include "reports/conclusion/oom_cause.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

/// The figures of an error as a message has them: PyTorch's own where it is known, else the
/// record's. nullopt: there is neither.
std::optional<OomMessage> figures_of(const OomResult& oom);

/// Takes what PyTorch's message tells of the card into the error.
void take_card_figures(OomResult& oom);

/// Drops findings that other figures of the variant contradict: fragmentation where segments are
/// expandable, where less is free than was requested, or where memory grows anyway; growth of what
/// is gone.
void reject_contradicted(VariantResult& variant);

/// From the error, the findings, and what keeps memory alive. nullopt: no cause is borne out.
std::optional<ConclusionResult> conclusion_of(const VariantResult& variant);

}  // namespace ohm::reports
