#include "reports/ci/xml_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator_shim/base/utf8.h"

namespace ohm::reports {

namespace {

/// U+FFFE and U+FFFF, which XML cannot hold.
bool is_noncharacter(std::string_view sequence) {
  return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
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
    const std::size_t length = utf8_sequence_bytes(text);
    if (length == 1) {
      append_ascii(out, text.front());
    } else if (length == 0 || is_noncharacter(text.substr(0, length))) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
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
