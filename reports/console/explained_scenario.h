// A pitfall in words and in figures: what ohm explain prints.
#pragma once

#include <span>
#include <string>

#include "reports/model/run_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// The words come from the scenario's file, the figures from a run.
struct ExplainedScenario {
  ScenarioResult result;
  std::string symptom;
  std::string cause;
  std::string what_to_do;
  std::string chapter;
  std::string pytorch;
  std::string keras;
};

/// For a terminal.
std::string explained_text(const ExplainedScenario& scenario, const ReportStyle& style);

/// A section of a document, its heading of level 3.
std::string explained_markdown(const ExplainedScenario& scenario);

/// All of them as one document, in an order that can be taught: by chapter, then as they come.
std::string handout(std::span<const ExplainedScenario> scenarios);

}  // namespace ohm::reports
