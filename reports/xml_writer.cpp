#include "reports/xml_writer.h"

#include <fmt/format.h>

namespace ohm::reports {

namespace {

/// Length of the UTF-8 sequence at the front, 0 when there is none that XML could hold.
std::size_t sequence_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80U   ? 1
                             : lead < 0xC2U ? 0
                             : lead < 0xE0U ? 2
                             : lead < 0xF0U ? 3
                             : lead < 0xF5U ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  if (length == 1) return 1;
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool surrogate = lead == 0xEDU && second >= 0xA0U;
  const bool beyond = lead == 0xF4U && second >= 0x90U;
  const bool noncharacter = lead == 0xEFU && second == 0xBFU && byte(2) >= 0xBEU;
  return overlong || surrogate || beyond || noncharacter ? 0 : length;
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\t':
      out += "&#x9;";
      return;
    case '\n':
      out += "&#xA;";
      return;
    case '\r':
      out += "&#xD;";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code < 0x20U || code == 0x7FU) {
    out += fmt::format("\\x{:02X}", code);
  } else {
    out += c;
  }
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_bytes(text);
    if (length == 1) {
      append_ascii(out, text.front());
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

XmlElement::XmlElement(std::string& out, std::string_view name, std::size_t depth)
    : out_(out), name_(name), depth_(depth) {
  out_ += std::string(2 * depth_, ' ') + "<" + name_;
}

XmlElement::XmlElement(std::string& out, std::string_view name) : XmlElement(out, name, 0) {}

XmlElement::XmlElement(XmlElement& parent, std::string_view name)
    : XmlElement(parent.begin_child(), name, parent.depth_ + 1) {}

XmlElement::~XmlElement() {
  if (start_tag_open_) {
    out_ += "/>\n";
    return;
  }
  if (has_children_) out_ += std::string(2 * depth_, ' ');
  out_ += "</" + name_ + ">\n";
}

void XmlElement::close_start_tag() {
  if (start_tag_open_) out_ += ">";
  start_tag_open_ = false;
}

std::string& XmlElement::begin_child() {
  close_start_tag();
  if (!has_children_) out_ += "\n";
  has_children_ = true;
  return out_;
}

XmlElement& XmlElement::attribute(std::string_view name, std::string_view value) {
  out_ += fmt::format(" {}=\"{}\"", name, xml_escaped(value));
  return *this;
}

XmlElement& XmlElement::text(std::string_view text) {
  close_start_tag();
  // In text, unlike in attributes, line ends need no reference.
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out_ += xml_escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  out_ += xml_escaped(text);
  return *this;
}

}  // namespace ohm::reports
