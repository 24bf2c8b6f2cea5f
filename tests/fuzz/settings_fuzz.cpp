// Whatever stands in PYTORCH_CUDA_ALLOC_CONF, it is either refused with a message or read as
// settings that the allocator can work with.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/caching/settings.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ohm::AllocatorSettings& settings, const ohm::RuleSet& rules) {
  constexpr std::size_t kMebibyte = 1048576;
  require(settings.max_split_size_bytes >= rules.smallest_size_setting_mb * kMebibyte);
  require(settings.max_non_split_rounding_bytes >= 20 * kMebibyte);
  require(settings.garbage_collection_threshold >= 0 && settings.garbage_collection_threshold < 1);
  for (const std::size_t divisions : settings.roundup_power2_divisions) {
    require(divisions == 0 || std::has_single_bit(divisions));
  }
  require(std::has_single_bit(settings.pinned_num_register_threads));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ohm::RuleSet& rules : ohm::rule_sets()) {
    try {
      check(ohm::parse_settings(text, rules), rules);
    } catch (const std::invalid_argument& error) {
      require(*error.what() != '\0');
    }
  }
  return 0;
}
