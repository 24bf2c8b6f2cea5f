#include "reports/html/html_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/html/html_card.h"
#include "reports/html/html_findings.h"
#include "reports/html/html_twins.h"
#include "reports/text/conclusion_text.h"
#include "reports/text/html_text.h"
#include "reports/text/limit_lines.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string spoken(Category category) {
  std::string name(name_of(category));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Which of the figures above it are not exact, and what they rest on.
std::string modelled_note(const VariantResult& variant) {
  std::string notes;
  for (const DeviceResult& device : variant.devices) {
    if (device.modelled.empty()) continue;
    std::string names;
    for (const std::string& name : device.modelled) {
      names += (names.empty() ? "<code>" : ", <code>") + html(name) + "</code>";
    }
    notes += fmt::format("<p class=\"note\">{}: modelled, not exact: {}</p>\n", html(device.device),
                         names);
  }
  return notes;
}

std::string device_table(const VariantResult& variant) {
  std::string rows;
  for (const DeviceResult& device : variant.devices) {
    rows += fmt::format(
        "<tr data-device=\"{}\"><td class=\"tight\">{}</td><td class=\"n\" data-figure=\"peak\">{}"
        "</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        html(device.device), html(device.device), html_bytes(device.peak_allocated_bytes),
        html_bytes(device.peak_reserved_bytes), html_bytes(device.allocated_at_end_bytes),
        device.capacity_bytes == 0 ? "unknown" : html_bytes(device.capacity_bytes), device.num_ooms,
        device.num_alloc_retries, device.num_device_alloc);
  }
  return "<div class=\"scroll\"><table><thead><tr><th>GPU<th class=\"n\">peak allocated"
         "<th class=\"n\">peak reserved<th class=\"n\">allocated at the end<th class=\"n\">capacity"
         "<th class=\"n\">OOMs<th class=\"n\">retries<th class=\"n\">segments obtained"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n" + modelled_note(variant);
}

std::string limit_table(const VariantResult& variant) {
  if (variant.limits.empty()) return "";
  std::string rows;
  for (const LimitResult& limit : variant.limits) {
    const bool breaks = limit.holds && !*limit.holds;
    rows += fmt::format(
        "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td><span class=\"pill {}\">{}</span> "
        "<span class=\"soft\">{}</span></td></tr>\n",
        html(limit.limit), limit.measured ? html(exact_figure(*limit.measured, limit.unit)) : "",
        !limit.holds ? "skipped"
        : breaks     ? "failed"
                     : "passed",
        !limit.holds ? "not told"
        : breaks     ? "breaks"
                     : "holds",
        html(limit.note));
  }
  return "<h3>Limits</h3>\n<div class=\"scroll\"><table><thead><tr><th>limit<th "
         "class=\"n\">measured"
         "<th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string category_bar(const CategoryBytes& bytes, std::int64_t whole) {
  std::string parts;
  std::string keys;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0) continue;
    const std::string name = spoken(static_cast<Category>(i));
    parts += fmt::format("<i class=\"c-{}\" style=\"width:{:.3f}%\" title=\"{}\"></i>",
                         kCategoryNames[i], share_of(bytes[i], whole), name);
    keys += fmt::format("<span class=\"key\"><i class=\"c-{}\"></i>{} {} ({:.1f} %)</span>",
                        kCategoryNames[i], name, short_bytes(bytes[i]), share_of(bytes[i], whole));
  }
  return fmt::format(
      "<div class=\"stack\" aria-hidden=\"true\">{}</div><div class=\"legend\">{}</div>\n", parts,
      keys);
}

std::string holder_place(const HolderResult& holder) {
  if (holder.file.empty()) return "<span class=\"soft\">no line of a script</span>";
  const std::string text =
      holder.text.empty() ? "" : fmt::format("<br><code>{}</code>", html(holder.text));
  const std::string behind = behind_text(holder.library, holder.module);
  return fmt::format("<span class=\"soft\">{}:{}</span>{}{}", html(holder.file), holder.line,
                     behind.empty() ? "" : "<br>in " + html(behind), text);
}

std::string holder_table(const std::vector<HolderResult>& holders, std::int64_t whole,
                         std::int64_t others) {
  std::string rows;
  for (const HolderResult& holder : holders) {
    rows += fmt::format(
        "<tr data-bytes=\"{}\"><td class=\"tight\"><span class=\"swatch c-{}\"></span>{}</td>"
        "<td class=\"n share\" style=\"--share:{:.1f}%\">{}</td><td class=\"n\">{:.1f} %</td>"
        "<td class=\"n\">{}</td><td class=\"tight\">{}</td><td>{}</td></tr>\n",
        holder.bytes, name_of(holder.category), spoken(holder.category),
        share_of(holder.bytes, whole), html_bytes(holder.bytes), share_of(holder.bytes, whole),
        grouped(holder.count), html(holder.op), holder_place(holder));
  }
  if (others > 0) {
    rows +=
        fmt::format("<tr><td colspan=\"6\" class=\"soft\">and {} more places</td></tr>\n", others);
  }
  return "<div class=\"scroll\"><table class=\"holders\"><thead><tr><th>category<th "
         "class=\"n\">bytes"
         "<th class=\"n\">share<th class=\"n\">blocks<th>op<th>line</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string peak_section(const VariantResult& variant) {
  std::string out;
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak || device.peak_allocated_bytes == 0) continue;
    const std::string of = variant.devices.size() > 1 ? " on " + html(device.device) : "";
    out += fmt::format(
        "<h3>Alive at the peak{}</h3>\n<p class=\"note\">{} after event {}{}."
        "</p>\n",
        of, html(exact_figure(static_cast<double>(device.peak_allocated_bytes), Unit::bytes)),
        grouped(device.peak->event), in_step_text(device.peak->step, ", "));
    out += category_bar(device.peak_by_category, device.peak_allocated_bytes);
    // A record of another program can have more places than a reader takes in.
    constexpr std::size_t kMostPlaces = 1000;
    std::vector<HolderResult> holders = device.peak->holders;
    const std::size_t shown = std::min(holders.size(), kMostPlaces);
    const auto others = static_cast<std::int64_t>(holders.size() - shown);
    holders.resize(shown);
    out += holder_table(holders, device.peak_allocated_bytes, others);
  }
  return out;
}

std::string oom_section(const VariantResult& variant) {
  if (!variant.oom) return "";
  const OomResult& oom = *variant.oom;
  std::int64_t alive = 0;
  for (const std::int64_t bytes : oom.alive_by_category) alive += bytes;
  std::string out = fmt::format(
      "<h3>Out of memory{}</h3>\n<p class=\"note\">{} on {}: {} for {}{}</p>\n"
      "<pre class=\"message\">{}</pre>\n",
      in_step_text(oom.step, " "),
      oom.injected ? "Injected by " + html(oom.policy) : std::string("Genuine"), html(oom.device),
      html(exact_figure(static_cast<double>(oom.requested_bytes), Unit::bytes)),
      oom.op.empty() ? "a tensor" : html(oom.op),
      oom.file.empty() ? ""
                       : ", " + html(full_place_text(oom.file, oom.line, oom.library, oom.module)),
      html(oom.message));
  std::string rows;
  for (const auto& [name, bytes] : beside_tensors(oom)) {
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", name, html_bytes(bytes));
  }
  if (!rows.empty()) {
    out +=
        "<div class=\"scroll\"><table><thead><tr><th>beside tensors<th class=\"n\">bytes"
        "</tr></thead><tbody>\n" +
        rows + "</tbody></table></div>\n";
  }
  // With the whole peak above, the first lines of it again would say nothing new.
  const bool has_peak =
      std::any_of(variant.devices.begin(), variant.devices.end(),
                  [](const DeviceResult& device) { return device.peak.has_value(); });
  if (has_peak) return out;
  return out + category_bar(oom.alive_by_category, alive) +
         holder_table(oom.holders, alive, oom.other_holders);
}

std::string path_text(const RetainedResult& entry) {
  std::string out;
  for (const std::string& step : entry.path) {
    if (!out.empty()) out += " <span class=\"to\">→</span> ";
    out += html(step);
  }
  return out;
}

std::string line_text(const RetainedResult& entry) {
  return entry.file.empty() ? fmt::format("line {}", entry.line)
                            : place_text(entry.file, entry.line);
}

std::string retention_section(const VariantResult& variant) {
  if (!variant.retention) return "";
  const RetentionResult& retention = *variant.retention;
  std::string rows;
  for (const RetainedResult& entry : retention.entries) {
    rows += fmt::format(
        "<tr data-variable=\"{}\" data-bytes=\"{}\"><td class=\"tight\"><b>{}</b><br><span "
        "class=\"soft\">{}{}</span></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"path\">{}</td></tr>\n",
        html(entry.variable), entry.bytes, html(entry.variable), html(entry.function),
        entry.line == 0 ? "" : fmt::format(", {}", html(line_text(entry))), html_bytes(entry.bytes),
        entry.own_bytes == 0 ? "" : html_bytes(entry.own_bytes), grouped(entry.blocks),
        path_text(entry));
  }
  rows += fmt::format(
      "<tr data-bytes=\"{}\"><td class=\"soft\">no variable</td><td class=\"n\">{}</td><td></td>"
      "<td></td><td class=\"soft\">temporaries of the op and the backward pass that were running"
      "</td></tr>\n",
      retention.other_bytes, html_bytes(retention.other_bytes));
  return fmt::format(
      "<h3>Why it is retained</h3>\n<p class=\"note\">What the script's variables reached {}: {} "
      "on "
      "{}. Each block counts for the variable that holds it, or else for the first one whose graph "
      "needs it; the third column is what would go with that variable alone.</p>\n<div "
      "class=\"scroll\"><table "
      "class=\"retention\">"
      "<thead><tr><th>variable<th class=\"n\">reached<th class=\"n\">only by it<th "
      "class=\"n\">blocks"
      "<th>path to its largest</tr></thead><tbody>\n{}</tbody></table></div>\n",
      moment_text(variant), html(exact_figure(static_cast<double>(retention.bytes), Unit::bytes)),
      html(retention.device), rows);
}

/// Without a script the charts are a table: memory at the end of each step.
std::string step_table(const MemoryHistory& history) {
  if (history.steps.empty()) return "";
  constexpr std::size_t kMostRows = 400;
  const std::size_t every = history.steps.size() / kMostRows + 1;
  std::string head = "<th class=\"n\">step<th class=\"n\">event";
  for (const DeviceMemoryHistory& device : history.devices) {
    head += fmt::format("<th class=\"n\">allocated, {0}<th class=\"n\">reserved, {0}",
                        html(device.device));
  }
  std::string rows;
  for (std::size_t i = 0; i < history.steps.size(); i += every) {
    const std::uint32_t event = history.steps[i];
    rows += fmt::format("<tr><td class=\"n\">{}</td><td class=\"n\">{}</td>",
                        (i + 1) * history.steps_every, grouped(event));
    for (const DeviceMemoryHistory& device : history.devices) {
      const std::size_t bucket = event / history.events_per_bucket;
      rows += fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                          html_bytes(device.allocated_high.at(bucket)),
                          html_bytes(device.reserved_high.at(bucket)));
    }
    rows += "</tr>\n";
  }
  const std::size_t stride = every * history.steps_every;
  const std::string note =
      stride == 1 ? "" : fmt::format("<p class=\"note\">Every {}th step.</p>", stride);
  return fmt::format(
      "<details><summary>Memory at the end of each step</summary>{}<div class=\"scroll\"><table>"
      "<thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div></details>\n",
      note, head, rows);
}

/// The charts are made where they are looked at.
std::string chart_places(const VariantResult& variant, std::size_t block_rows) {
  if (!variant.history) return "";
  return "<div class=\"charts js-only\"></div>\n" + step_table(*variant.history) +
         block_table(*variant.history, block_rows) + segment_table(*variant.history);
}

std::string error_section(const VariantResult& variant) {
  std::string out;
  // The message of an out-of-memory error stands with what was alive.
  const bool is_told =
      variant.outcome == Outcome::oom && variant.oom && !variant.oom->message.empty();
  if (variant.error && !is_told) {
    out += fmt::format(
        "<h3>Error</h3>\n<pre class=\"message\">{}{}{}</pre>\n", html(variant.error->message),
        variant.error->traceback.empty() ? "" : "\n" + html(variant.error->traceback),
        variant.error->hint.empty() ? "" : "\n\n" + html(variant.error->hint));
  }
  if (!variant.difference.empty()) {
    out += fmt::format("<p class=\"note\">Values: {}</p>\n", html(variant.difference));
  }
  if (!variant.output.empty()) {
    out += fmt::format(
        "<details><summary>What it printed</summary><pre class=\"message\">{}</pre></details>\n",
        html(variant.output));
  }
  return out;
}

std::string line_table(const VariantResult& variant, const ScenarioResult& scenario) {
  const std::map<int, std::int64_t> lines = bytes_by_line(variant, scenario.file);
  if (lines.empty() || scenario.source.empty()) return "";
  std::string rows;
  for (const auto& [line, bytes] : lines) {
    const bool is_known = line >= 1 && static_cast<std::size_t>(line) <= scenario.source.size();
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td><code>{}</code></td></tr>\n", line,
        html_bytes(bytes),
        is_known ? html(scenario.source[static_cast<std::size_t>(line) - 1]) : "");
  }
  return "<details><summary>Bytes at the peak by line</summary><div "
         "class=\"scroll\"><table><thead><tr>"
         "<th class=\"n\">line<th class=\"n\">bytes<th>source</tr></thead><tbody>\n" +
         rows + "</tbody></table></div></details>\n";
}

}  // namespace

std::string html_variant(const VariantResult& variant, const ScenarioResult& scenario,
                         std::size_t block_rows) {
  std::string out = fmt::format(
      "<article class=\"variant\" data-name=\"{}\">\n<h3>{} <span class=\"pill "
      "{}\">{}</span></h3>\n"
      "<p class=\"note\">{} of {}. {}</p>\n",
      html(variant.name), html(variant.name), name_of(variant.verdict), name_of(variant.verdict),
      role_text(variant).empty() ? "record" : role_text(variant),
      html(place_text(scenario.file, variant.line)), html(variant.reason));
  if (!has_conclusion_on_card(scenario)) out += html_conclusion(variant);
  out += device_table(variant);
  out += error_section(variant);
  out += oom_section(variant);
  out += html_findings(variant);
  out += retention_section(variant);
  out += chart_places(variant, block_rows);
  out += peak_section(variant);
  out += line_table(variant, scenario);
  out += limit_table(variant);
  out += fmt::format("<p class=\"note\">Again: <code>{}</code></p>\n</article>\n",
                     html(variant.rerun));
  return out;
}

}  // namespace ohm::reports
