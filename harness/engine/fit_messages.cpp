#include "harness/engine/fit_messages.h"

#include "harness/engine/message_archive.h"

namespace ohm {

// Written and read alike: T is the struct, const when it is written.
template <class T, class Struct>
concept FitStruct = std::is_same_v<std::remove_const_t<T>, Struct>;

template <class Archive, FitStruct<LimitResult> T>
void fields(Archive& archive, T& limit) {
  archive(limit.limit, limit.unit, limit.measured, limit.bound, limit.holds, limit.note);
}

template <class Archive, FitStruct<FitPoint> T>
void fields(Archive& archive, T& point) {
  archive(point.value, point.peak_allocated_bytes, point.peak_reserved_bytes);
}

template <class Archive, FitStruct<FitLine> T>
void fields(Archive& archive, T& line) {
  archive(line.bytes_per_unit, line.fixed_bytes, line.from_value, line.checked_values,
          line.largest_deviation_bytes, line.is_line);
}

template <class Archive, FitStruct<FitStop> T>
void fields(Archive& archive, T& stop) {
  archive(stop.value, stop.kind, stop.reason, stop.limit);
}

template <class Archive, FitStruct<FitMargin> T>
void fields(Archive& archive, T& margin) {
  archive(margin.capacity_bytes, margin.context_bytes, margin.workspace_bytes, margin.left_bytes);
}

template <class Archive, FitStruct<FitRow> T>
void fields(Archive& archive, T& row) {
  archive(row.variant, row.role, row.profile, row.gpu_count, row.outcome, row.error, row.best,
          row.stop, row.best_within_limits, row.limit_stop, row.points, row.line, row.margin,
          row.needed_bytes, row.fits_beyond, row.fails_within, row.unchecked, row.smallest_profile,
          row.smallest_profile_bytes, row.runs);
}

namespace engine {

std::string encoded(const FitRow& row) {
  MessageWriter writer;
  writer(row);
  return writer.take();
}

FitRow decoded_fit_row(std::string_view bytes) {
  FitRow row;
  MessageReader reader(bytes);
  reader(row);
  return row;
}

}  // namespace engine

}  // namespace ohm
