// Text inside of Markdown.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// Text of unknown origin in one line, as it is: nothing in it is Markdown or HTML.
std::string markdown(std::string_view text);

/// The same as code, in as many backquotes as the text does not have.
std::string markdown_code(std::string_view text);

/// A block of code of several lines; nothing in it ends the block.
std::string markdown_block(std::string_view language, std::string_view code);

/// Markdown of unknown origin: what it says stays, but for HTML, which is shown as it is written.
std::string without_html(std::string_view text);

}  // namespace ohm::reports
