#include "runtime/base/running_op.h"

#include <utility>

namespace ohm {
namespace {

thread_local const std::string_view* kept_name = nullptr;

}  // namespace

std::string_view running_op() { return kept_name == nullptr ? std::string_view() : *kept_name; }

const std::string_view* exchange_running_op(const std::string_view* name) {
  return std::exchange(kept_name, name);
}

}  // namespace ohm
