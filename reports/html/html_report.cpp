#include "reports/html/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "reports/history/history_detail.h"
#include "reports/history/history_json.h"
#include "reports/html/html_assets.h"
#include "reports/html/html_card.h"
#include "reports/html/html_heat_map.h"
#include "reports/html/html_variant.h"
#include "reports/text/compressed.h"
#include "reports/text/html_text.h"
#include "reports/text/json_text.h"
#include "reports/text/limit_lines.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

/// Rows of blocks and segments that a file has room for: about 30 bytes each.
constexpr std::size_t kMostHistoryRows = 300'000;

constexpr const char* kSecurityPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/// Each history gets its share of the room.
void make_room(RunResult& result) {
  std::size_t rows = 0;
  const auto for_each_history = [&result](const auto& visit) {
    for (ScenarioResult& scenario : result.scenarios) {
      for (VariantResult& variant : scenario.variants) {
        if (variant.history) visit(*variant.history);
      }
    }
  };
  for_each_history([&](const MemoryHistory& history) { rows += rows_of(history); });
  if (rows <= kMostHistoryRows) return;
  for_each_history([&](MemoryHistory& history) {
    HistoryDetail detail;
    detail.blocks = rows_of(history) * kMostHistoryRows / rows;
    detail.segments = std::max<std::size_t>(256, detail.blocks / 4);
    detail.runs = detail.blocks;
    reduce(history, detail);
  });
}

Json scenario_data(const ScenarioResult& scenario) {
  Json variants = Json::array();
  for (const VariantResult& variant : scenario.variants) {
    Json lines = Json::object();
    for (const auto& [line, bytes] : bytes_by_line(variant, scenario.file)) {
      lines[std::to_string(line)] = bytes;
    }
    Json one = {{"name", variant.name},
                {"role", std::string(name_of(variant.role))},
                {"of", variant.of},
                {"peak", peak_bytes(variant)},
                {"line_bytes", lines}};
    if (variant.history) one["history"] = history_json(*variant.history);
    variants.push_back(std::move(one));
  }
  Json limits = Json::array();
  for (const LimitLine& line : limit_lines(scenario)) {
    limits.push_back(
        {{"bytes", line.bytes}, {"label", line.label}, {"is_capacity", line.is_capacity}});
  }
  return {{"variants", variants}, {"limit_lines", limits}};
}

bool has_history(const ScenarioResult& scenario) {
  return std::any_of(scenario.variants.begin(), scenario.variants.end(),
                     [](const VariantResult& variant) { return variant.history.has_value(); });
}

std::string overlay_place(const ScenarioResult& scenario) {
  if (!has_history(scenario)) {
    return "<p class=\"note\">This result has no memory history: record it with ohm run --report "
           "html=PATH, or ohm run --history --report json=PATH.</p>\n";
  }
  return "<div class=\"js-only\"><h3>Memory over time, all variants</h3>\n<div "
         "class=\"overlay\"></div></div>\n";
}

std::string picker(const ScenarioResult& scenario) {
  std::string options;
  for (std::size_t i = 0; i < scenario.variants.size(); ++i) {
    const std::string_view role = role_text(scenario.variants[i]);
    options += fmt::format("<option value=\"{}\">{}{}</option>", i, html(scenario.variants[i].name),
                           role.empty() ? "" : fmt::format(" ({})", role));
  }
  return "<div class=\"variant-pick js-only row\"><b>One variant in detail</b><label><select "
         "aria-label=\"variant\">" +
         options + "</select></label></div>\n";
}

std::string source_listing(const ScenarioResult& scenario) {
  if (scenario.source.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < scenario.source.size(); ++i) {
    rows += fmt::format(
        "<tr data-line=\"{0}\"><td class=\"held\"></td><td class=\"no\">{0}</td><td "
        "class=\"text\">{1}</td></tr>\n",
        i + 1, html(scenario.source[i]));
  }
  return fmt::format(
      "<h3>Source</h3>\n<p class=\"note\">{}<span class=\"js-only\">, and what each line holds at "
      "the "
      "peak of <b class=\"source-of\"></b></span></p>\n<div class=\"source\" tabindex=\"0\" "
      "aria-label=\"source\"><table><tbody>\n{}</tbody></table></div>\n",
      html(scenario.file), rows);
}

std::string gpus_text(const ScenarioResult& scenario) {
  for (const VariantResult& variant : scenario.variants) {
    if (variant.devices.empty()) continue;
    const DeviceResult& device = variant.devices.front();
    // Of a recorded card there is no more than its record.
    const char* const values = device.capacity_bytes == 0 ? ""
                               : device.values            ? " · values computed"
                                                          : " · size-only: no values";
    return fmt::format(" · {} × {}{} · {}{}", variant.devices.size(), html(device.profile), values,
                       html(device.rules),
                       device.alloc_conf.empty() ? "" : " with " + html(device.alloc_conf));
  }
  return "";
}

/// What the search looks at.
std::string words_of(const ScenarioResult& scenario) {
  std::string words = scenario.name + " " + scenario.summary + " " + scenario.file;
  for (const VariantResult& variant : scenario.variants) {
    words += " " + variant.name + " " + std::string(name_of(variant.role)) + " " +
             std::string(name_of(variant.verdict));
  }
  std::transform(words.begin(), words.end(), words.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 128 ? std::tolower(c) : c); });
  return words;
}

/// Text in a browser with scripts until it is looked at, part of the page in one without.
std::string later(const std::string& html) {
  return "<noscript class=\"later\">" + without_optional_ends(html) + "</noscript>\n";
}

std::string data_element(const ScenarioResult& scenario) {
  const std::string data = json_line(scenario_data(scenario));
  return fmt::format("<script type=\"application/octet-stream\" class=\"data\">{}</script>\n",
                     base64(compressed(data)));
}

/// Many variants share the room for their tables of blocks.
std::size_t block_rows(const RunResult& result) {
  constexpr std::size_t kAllRows = 6000;
  std::size_t variants = 1;
  for (const ScenarioResult& scenario : result.scenarios) variants += scenario.variants.size();
  return std::clamp<std::size_t>(kAllRows / variants, 15, 60);
}

std::string scenario_section(const ScenarioResult& scenario, const std::string& id,
                             std::size_t block_rows) {
  std::string out = fmt::format(
      "<section class=\"scenario\" id=\"{}\" data-words=\"{}\">\n<div "
      "class=\"head\"><h2>{}</h2><span "
      "class=\"pill {}\">{}</span></div>\n<p class=\"summary\">{}</p>\n<p "
      "class=\"where\">{}{}</p>\n",
      id, html(words_of(scenario)), html(scenario.name), name_of(scenario.verdict),
      name_of(scenario.verdict), html(scenario.summary), html(scenario.file), gpus_text(scenario));
  if (scenario.error) {
    out += fmt::format("<pre class=\"message\">{}\n{}</pre>\n", html(scenario.error->message),
                       html(scenario.error->hint));
  }
  out += html_card(scenario) + html_heat_maps(scenario);
  if (!scenario.variants.empty()) {
    out += overlay_place(scenario) + picker(scenario);
    for (const VariantResult& variant : scenario.variants) {
      out += later(html_variant(variant, scenario, block_rows));
    }
    const std::string source = source_listing(scenario);
    if (!source.empty()) out += later(source);
    out += data_element(scenario);
  }
  return out + "</section>\n";
}

std::string tally(const RunResult& result) {
  std::size_t variants = 0;
  std::array<std::size_t, kVerdictNames.size()> counts = {};
  for (const ScenarioResult& scenario : result.scenarios) {
    variants += scenario.variants.size();
    for (const VariantResult& variant : scenario.variants) {
      ++counts[static_cast<std::size_t>(variant.verdict)];
    }
  }
  std::string out =
      fmt::format("{} scenario{}, {} variant{}", result.scenarios.size(),
                  result.scenarios.size() == 1 ? "" : "s", variants, variants == 1 ? "" : "s");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) out += fmt::format(", {} {}", counts[i], kVerdictNames[i]);
  }
  return out;
}

/// Ids of the sections: names, made different where they are not.
std::vector<std::string> ids_of(const RunResult& result) {
  std::vector<std::string> ids;
  std::set<std::string> taken;
  for (const ScenarioResult& scenario : result.scenarios) {
    const std::string name = html_id(scenario.name);
    std::string id = name;
    for (int number = 2; !taken.insert(id).second; ++number)
      id = fmt::format("{}-{}", name, number);
    ids.push_back(id);
  }
  return ids;
}

std::string contents(const RunResult& result, const std::vector<std::string>& ids) {
  std::string out = "<nav class=\"toc\" aria-label=\"scenarios\">";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += fmt::format("<a class=\"{}\" href=\"#{}\">{}</a>", name_of(result.scenarios[i].verdict),
                       ids[i], html(result.scenarios[i].name));
  }
  if (ids.size() > 1) {
    out +=
        "<input class=\"js-only\" type=\"search\" placeholder=\"filter ( / )\" "
        "aria-label=\"filter the scenarios\">";
  }
  return out + "</nav>\n";
}

}  // namespace

std::string html_report(const RunResult& whole, const ReportStyle& /*style*/) {
  RunResult result = whole;
  make_room(result);
  const std::vector<std::string> ids = ids_of(result);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>ohm report: {}</title>\n<style>\n",
      kSecurityPolicy, html(tally(result)));
  out += kReportStyleSheet;
  out += fmt::format(
      "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">to the scenarios</a>\n<header "
      "class=\"top\"><h1>ohm report</h1>\n<p class=\"tally\">{}</p>\n",
      html(tally(result)));
  out += contents(result, ids) + "</header>\n<main id=\"main\">\n";
  const std::size_t rows = block_rows(result);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += scenario_section(result.scenarios[i], ids[i], rows);
  }
  out +=
      "<footer>Charts: <kbd>←</kbd> <kbd>→</kbd> event, <kbd>shift</kbd> faster, <kbd>+</kbd> "
      "<kbd>−</kbd> zoom, <kbd>0</kbd> all, drag to move; <kbd>/</kbd> filters the scenarios. "
      "Time is counted in events of the allocator: it is the same on every run.</footer>\n"
      "</main>\n<script>\n";
  out += kReportScript;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace ohm::reports
