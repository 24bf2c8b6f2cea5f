#include "allocator_shim/interpose/status.h"

#include <algorithm>
#include <string_view>

#include "allocator_shim/interpose/driver_call.h"

namespace ohm::interpose {
namespace {

struct StatusText {
  int number;
  const char* name;
  const char* driver_name;
  const char* text;
};

#define OHM_STATUS(number, name, driver_name, text) StatusText{number, name, driver_name, text},
constexpr StatusText kTexts[] = {
#include "allocator_shim/interpose/status.def"
};
#undef OHM_STATUS

/// nullptr: there is no such code.
const StatusText* row_of(Status status) {
  const auto* const found =
      std::find_if(std::begin(kTexts), std::end(kTexts),
                   [&](const StatusText& row) { return row.number == static_cast<int>(status); });
  return found == std::end(kTexts) ? nullptr : found;
}

constexpr const char* kUnrecognized = "unrecognized error code";

thread_local Status last = Status::success;

}  // namespace

const char* name_of(Status status) {
  const StatusText* const row = row_of(status);
  return row == nullptr || *row->name == '\0' ? kUnrecognized : row->name;
}

const char* text_of(Status status) {
  const StatusText* const row = row_of(status);
  return row == nullptr || *row->name == '\0' ? kUnrecognized : row->text;
}

const char* driver_name_of(Status status) {
  const StatusText* const row = row_of(status);
  return row == nullptr || *row->driver_name == '\0' ? nullptr : row->driver_name;
}

const char* driver_text_of(Status status) {
  const StatusText* const row = row_of(status);
  return row == nullptr || *row->driver_name == '\0' ? nullptr : row->text;
}

Status noted(Status status) {
  if (status != Status::success && !DriverCall::is_within()) last = status;
  return status;
}

Status last_error() { return last; }
void forget_last_error() { last = Status::success; }

}  // namespace ohm::interpose
