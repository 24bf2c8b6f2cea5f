// JSON as text. The library's parser and its writer take a second to compile wherever they are
// called: one source does.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ohm::reports {

/// On one line. Bytes that are not UTF-8 are replaced.
std::string json_line(const nlohmann::json& value);
/// As files have it: indented, with a newline at the end. Bytes that are not UTF-8 are replaced.
std::string json_document(const nlohmann::json& value);

/// Throws nlohmann::json::exception.
nlohmann::json parse_json(std::string_view text);
nlohmann::json parse_json(std::istream& stream);
/// A discarded value, which is of no type, for what is not JSON.
nlohmann::json json_or_discarded(std::string_view text);

}  // namespace ohm::reports
