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

/// A word that can stand in an address: letters, digits, "_", "-", "."; all else is "-".
std::string html_id(std::string_view text);

/// JSON that can stand in a <script>, and in the log of a workflow of GitHub's.
std::string html_json(std::string_view json);

}  // namespace ohm::reports
