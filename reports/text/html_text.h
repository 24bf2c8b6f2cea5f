// Text inside of HTML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ohm::reports {

/// For contents and quoted attributes; control characters are spelled out.
std::string html(std::string_view text);

/// Human bytes with the exact figure behind: `58.32 MiB <span class="exact">61,149,184</span>`.
std::string html_bytes(std::int64_t bytes);

/// The same markup without the ends of cells and rows, which HTML lets one leave out.
std::string without_optional_ends(std::string_view html);

/// A word that can stand in an address: letters, digits, "_", "-", "."; all else is "-".
std::string html_id(std::string_view text);

}  // namespace ohm::reports
