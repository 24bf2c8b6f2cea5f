// OHM_ASSERT: a condition that only a mistake of ours can break. Checked in every build; the error
// is a std::logic_error, so that a broken run ends as an internal error and not as a result.
#pragma once

namespace ohm {

[[noreturn]] void assertion_failed(const char* condition, const char* what, const char* file,
                                   int line);

}  // namespace ohm

#define OHM_ASSERT(condition, what)       \
  (static_cast<bool>(condition) ? void(0) \
                                : ::ohm::assertion_failed(#condition, what, __FILE__, __LINE__))
