// Layout of text in columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::reports {

/// Columns that UTF-8 text takes, every code point being one column wide.
std::size_t display_width(std::string_view text);

/// Filled with blanks on the right (or left) up to `width` columns; longer text stays whole.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// Text of unknown origin: control characters but line ends, and what is not UTF-8, spelled "\x1B";
/// what changes the direction of text or cannot be seen "\u202E"; tabs as blanks; no line ends at
/// the end.
std::string printable(std::string_view text);

/// At most `width` columns: cut in the middle, "scenar…_grad.lua".
std::string shortened(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks, of which none is left at an end; a longer
/// word is broken where it must be, an address (https://…) never. Line ends in the text stay. Never
/// empty: "" gives one empty line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Every line of the text behind `indent`, wrapped so that it ends before `columns`; each line
/// ends with a line end.
std::string indented(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace ohm::reports
