// DEFLATE (RFC 1951), written here so that a report has the same bytes on every machine, whatever
// libraries are installed.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// A DEFLATE stream without any wrapper.
std::string deflated(std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace ohm::reports
