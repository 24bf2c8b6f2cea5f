// A small XML writer: an element closes itself when its scope ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ohm::reports {

/// Text that XML 1.0 can hold: markup and line ends of attributes as references, other control
/// characters spelled "\x1B", bytes that are not UTF-8 replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

/// Writes into `out`, which outlives the element. Attributes come before children and text.
class XmlElement {
 public:
  XmlElement(std::string& out, std::string_view name);
  XmlElement(XmlElement& parent, std::string_view name);
  ~XmlElement();
  XmlElement(const XmlElement&) = delete;
  XmlElement& operator=(const XmlElement&) = delete;

  XmlElement& attribute(std::string_view name, std::string_view value);
  XmlElement& text(std::string_view text);

 private:
  XmlElement(std::string& out, std::string_view name, std::size_t depth);
  void close_start_tag();
  std::string& begin_child();

  std::string& out_;
  std::string name_;
  std::size_t depth_;
  bool start_tag_open_ = true;
  bool has_children_ = false;
};

}  // namespace ohm::reports
