// Text that a report carries compressed.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// In zlib's format (RFC 1950), which browsers call "deflate".
std::string compressed(std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace ohm::reports
