#include "tests/truth/truth_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ohm::truth {

namespace {

std::string text_of(const Row& row) {
  if (!row.not_run.empty()) return fmt::format("not run  {}: {}\n", row.name, row.not_run);
  if (row.values == 0) return fmt::format("not run  {}: it gave no values\n", row.name);
  if (row.different == 0) {
    return fmt::format("same     {}: {} values, by up to {:.2g}\n", row.name, row.values,
                       row.largest_error);
  }
  return fmt::format("differs  {}: {} of {} values, by up to {:.2g}\n", row.name, row.different,
                     row.values, row.largest_error);
}

}  // namespace

bool is_close(double device, double host, const Tolerance& tolerance) {
  if (std::isnan(device) || std::isnan(host)) return std::isnan(device) && std::isnan(host);
  if (std::isinf(device) || std::isinf(host)) return device == host;
  return std::abs(device - host) <= tolerance.absolute + tolerance.relative * std::abs(host);
}

void Row::compare(double device, double host, const Tolerance& tolerance) {
  ++values;
  if (!is_close(device, host, tolerance)) ++different;
  const double error = std::abs(device - host) / (std::abs(host) + 1);
  if (std::isfinite(error)) largest_error = std::max(largest_error, error);
}

Verdict verdict_of(const std::vector<Row>& rows) {
  Verdict verdict;
  for (const Row& row : rows) {
    if (!row.not_run.empty()) {
      ++(row.cannot_run ? verdict.cannot_run : verdict.not_run);
    } else if (row.values == 0) {
      ++verdict.not_run;  // nothing was compared
    } else {
      ++(row.different == 0 ? verdict.same : verdict.differ);
    }
  }
  return verdict;
}

std::string text_of(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += text_of(row);
  return text;
}

}  // namespace ohm::truth
