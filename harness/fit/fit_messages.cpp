#include "harness/fit/fit_messages.h"

#include "harness/process/ipc_serialization.h"

namespace ohm {

template <class Archive, Is<LimitResult> T>
void fields(Archive& archive, T& limit) {
  archive(limit.limit, limit.unit, limit.measured, limit.bound, limit.holds, limit.note);
}

template <class Archive, Is<FitPoint> T>
void fields(Archive& archive, T& point) {
  archive(point.value, point.peak_allocated_bytes, point.peak_reserved_bytes);
}

template <class Archive, Is<FitLine> T>
void fields(Archive& archive, T& line) {
  archive(line.bytes_per_unit, line.fixed_bytes, line.from_value, line.checked_values,
          line.largest_deviation_bytes, line.is_line);
}

template <class Archive, Is<FitStop> T>
void fields(Archive& archive, T& stop) {
  archive(stop.value, stop.kind, stop.reason, stop.limit);
}

template <class Archive, Is<FitMargin> T>
void fields(Archive& archive, T& margin) {
  archive(margin.capacity_bytes, margin.context_bytes, margin.workspace_bytes, margin.left_bytes);
}

template <class Archive, Is<FitRow> T>
void fields(Archive& archive, T& row) {
  archive(row.variant, row.role, row.profile, row.gpu_count, row.outcome, row.error, row.best,
          row.stop, row.best_within_limits, row.limit_stop, row.points, row.line, row.margin,
          row.needed_bytes, row.fits_beyond, row.fails_within, row.unchecked, row.modelled,
          row.smallest_profile, row.smallest_profile_bytes, row.runs);
}

namespace engine {

std::string encoded(const FitAnswer& answer) {
  MessageWriter writer;
  writer(answer.row, answer.forecast.encoded());
  return writer.take();
}

FitAnswer decoded_fit_answer(std::string_view bytes) {
  FitAnswer answer;
  std::string forecast;
  MessageReader reader(bytes);
  reader(answer.row, forecast);
  answer.forecast = RequestForecast::decoded(forecast);
  return answer;
}

}  // namespace engine

}  // namespace ohm
