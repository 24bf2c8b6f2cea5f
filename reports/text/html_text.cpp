#include "reports/text/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/text/measured_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

std::string html(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_bytes(std::int64_t bytes) {
  const std::string shown = short_figure(static_cast<double>(bytes), Unit::bytes);
  if (bytes > -1024 && bytes < 1024) return shown;
  return fmt::format("{} <span class=\"exact\">{}</span>", shown, grouped(bytes));
}

std::string without_optional_ends(std::string_view html) {
  std::string out;
  out.reserve(html.size());
  for (std::size_t at = 0; at < html.size();) {
    const std::string_view rest = html.substr(at);
    if (rest.starts_with("</td>") || rest.starts_with("</tr>")) {
      at += 5;
    } else {
      out += html[at++];
    }
  }
  return out;
}

std::string html_id(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.';
      },
      '-');
  return out;
}

}  // namespace ohm::reports
