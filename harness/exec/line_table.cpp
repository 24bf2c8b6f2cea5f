#include "harness/exec/line_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "harness/exec/elf_file.h"

namespace ohm::engine {

namespace {

/// DW_LNS_…, DW_LNE_…, DW_LNCT_…, DW_FORM_….
constexpr std::uint8_t kCopy = 1, kAdvanceAddress = 2, kAdvanceLine = 3, kSetFile = 4,
                       kAddConstant = 8, kAdvanceFixed = 9;
constexpr std::uint8_t kEndSequence = 1, kSetAddress = 2;
constexpr std::uint64_t kPathContent = 1, kFolderContent = 2;
constexpr std::uint64_t kData2 = 0x05, kData4 = 0x06, kData8 = 0x07, kText = 0x08, kBlock = 0x09,
                        kData1 = 0x0b, kTextOffset = 0x0e, kNumber = 0x0f, kData16 = 0x1e,
                        kLineTextOffset = 0x1f;

/// Reads from the front. Past the end everything is 0.
class LineBytes {
 public:
  LineBytes() = default;
  explicit LineBytes(std::string_view bytes) : left_(bytes) {}

  bool is_empty() const { return left_.empty(); }
  std::size_t size() const { return left_.size(); }

  template <typename Number>
  Number take() {
    Number number = 0;
    if (left_.size() < sizeof(number)) {
      left_ = {};
      return 0;
    }
    std::memcpy(&number, left_.data(), sizeof(number));
    left_.remove_prefix(sizeof(number));
    return number;
  }
  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !left_.empty(); shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    while (byte >= 0x80 && !left_.empty()) {
      byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  std::string_view text() {
    const std::string_view text = left_.substr(0, left_.find('\0'));
    left_.remove_prefix(std::min(left_.size(), text.size() + 1));
    return text;
  }
  LineBytes part(std::uint64_t bytes) {
    const LineBytes part(left_.substr(0, bytes));
    left_.remove_prefix(std::min<std::uint64_t>(left_.size(), bytes));
    return part;
  }

 private:
  std::string_view left_;
};

struct LineSections {
  std::string_view line_texts;
  std::string_view texts;
};

std::string_view line_text_in(std::string_view section, std::uint64_t offset) {
  return offset < section.size() ? LineBytes(section.substr(offset)).text() : std::string_view();
}

/// The lines of one compiled source.
class UnitLineReader {
 public:
  UnitLineReader(LineBytes unit, bool is_wide, const LineSections& sections)
      : unit_(unit), is_wide_(is_wide), sections_(sections) {}

  /// Adds to both; numbers of files are those of `files`.
  void read(std::vector<std::string>& files, std::vector<LineTable::Row>& rows) {
    version_ = unit_.take<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return;
    if (version_ == 5) unit_.take<std::uint16_t>();  // sizes of addresses and segments
    LineBytes header = unit_.part(offset(unit_));
    read_header(header);
    first_file_ = static_cast<std::uint32_t>(files.size());
    if (version_ == 5) {
      read_names(header, files);
    } else {
      read_old_names(header, files);
    }
    file_count_ = static_cast<std::uint32_t>(files.size()) - first_file_;
    while (!unit_.is_empty()) read_sequence(rows);
  }

 private:
  std::uint64_t offset(LineBytes& from) const {
    return is_wide_ ? from.take<std::uint64_t>() : from.take<std::uint32_t>();
  }

  void read_header(LineBytes& header) {
    step_bytes_ = header.take<std::uint8_t>();
    if (version_ >= 4) header.take<std::uint8_t>();  // operations of an instruction
    header.take<std::uint8_t>();                     // whether rows are statements
    line_base_ = header.take<std::int8_t>();
    line_range_ = std::max<std::uint8_t>(1, header.take<std::uint8_t>());
    first_special_ = std::max<std::uint8_t>(1, header.take<std::uint8_t>());
    for (std::uint8_t i = 1; i < first_special_; ++i) {
      operands_[i] = header.take<std::uint8_t>();
    }
  }

  static std::string joined(std::string_view folder, std::string_view name) {
    if (name.starts_with('/') || folder.empty()) return std::string(name);
    return std::string(folder) + "/" + std::string(name);
  }

  void read_old_names(LineBytes& header, std::vector<std::string>& files) const {
    std::vector<std::string_view> folders = {""};
    for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
      folders.push_back(name);
    }
    files.emplace_back();  // numbers begin with 1
    for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
      const std::uint64_t folder = header.unsigned_leb();
      header.unsigned_leb();  // time
      header.unsigned_leb();  // size
      files.push_back(joined(folder < folders.size() ? folders[folder] : "", name));
    }
  }

  struct Entry {
    std::string_view path;
    std::uint64_t folder = 0;
  };

  void read_value(LineBytes& header, std::uint64_t content, std::uint64_t form,
                  Entry& entry) const {
    std::string_view text;
    std::uint64_t number = 0;
    if (form == kText) text = header.text();
    if (form == kLineTextOffset) text = line_text_in(sections_.line_texts, offset(header));
    if (form == kTextOffset) text = line_text_in(sections_.texts, offset(header));
    if (form == kNumber) number = header.unsigned_leb();
    if (form == kData1) number = header.take<std::uint8_t>();
    if (form == kData2) number = header.take<std::uint16_t>();
    if (form == kData4) number = header.take<std::uint32_t>();
    if (form == kData8) number = header.take<std::uint64_t>();
    if (form == kData16) header.part(16);
    if (form == kBlock) header.part(header.unsigned_leb());
    if (content == kPathContent) entry.path = text;
    if (content == kFolderContent) entry.folder = number;
  }

  std::vector<Entry> read_entries(LineBytes& header) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> formats(header.take<std::uint8_t>());
    for (auto& [content, form] : formats) {
      content = header.unsigned_leb();
      form = header.unsigned_leb();
    }
    std::vector<Entry> entries;
    for (std::uint64_t left = header.unsigned_leb(); left > 0 && !header.is_empty(); --left) {
      const std::size_t size = header.size();
      Entry& entry = entries.emplace_back();
      for (const auto& [content, form] : formats) read_value(header, content, form, entry);
      // Of forms that are not known, so that there may be any number of entries.
      if (header.size() == size) break;
    }
    return entries;
  }

  void read_names(LineBytes& header, std::vector<std::string>& files) const {
    const std::vector<Entry> folders = read_entries(header);
    const std::string_view first = folders.empty() ? "" : folders.front().path;
    for (const Entry& file : read_entries(header)) {
      const std::string_view folder =
          file.folder < folders.size() ? folders[file.folder].path : std::string_view();
      files.push_back(joined(first, joined(folder, file.path)));
    }
  }

  void read_sequence(std::vector<LineTable::Row>& rows) {
    address_ = 0;
    file_ = 1;
    line_ = 1;
    const std::size_t begin = rows.size();
    bool has_ended = false;
    while (!unit_.is_empty() && !has_ended) has_ended = read_operation(rows);
    // The linker leaves lines of functions that it drops, at address 0.
    const bool is_there = has_ended && rows.size() > begin && rows[begin].address != 0;
    if (!is_there) rows.resize(begin);
  }

  void add_row(std::vector<LineTable::Row>& rows, int line) const {
    const std::uint32_t file = file_ < file_count_ ? first_file_ + file_ : first_file_;
    rows.push_back({address_, file, line});
  }

  /// Whether the sequence has ended.
  bool read_operation(std::vector<LineTable::Row>& rows) {
    const auto operation = unit_.take<std::uint8_t>();
    if (operation >= first_special_) {
      advance(operation);
      line_ += line_base_ + (operation - first_special_) % line_range_;
      add_row(rows, line_);
      return false;
    }
    switch (operation) {
      case 0:
        return read_extended(rows);
      case kCopy:
        add_row(rows, line_);
        break;
      case kAdvanceAddress:
        address_ += unit_.unsigned_leb() * step_bytes_;
        break;
      case kAdvanceLine:
        line_ += static_cast<int>(unit_.signed_leb());
        break;
      case kSetFile:
        file_ = static_cast<std::uint32_t>(unit_.unsigned_leb());
        break;
      case kAddConstant:
        advance(255);
        break;
      case kAdvanceFixed:
        address_ += unit_.take<std::uint16_t>();
        break;
      default:
        for (int i = 0; i < operands_.at(operation); ++i) unit_.unsigned_leb();
    }
    return false;
  }

  void advance(std::uint8_t operation) {
    const int steps = (operation - first_special_) / line_range_;
    address_ += static_cast<std::uint64_t>(steps) * step_bytes_;
  }

  bool read_extended(std::vector<LineTable::Row>& rows) {
    LineBytes content = unit_.part(unit_.unsigned_leb());
    const auto operation = content.take<std::uint8_t>();
    if (operation == kSetAddress) address_ = content.take<std::uint64_t>();
    if (operation == kEndSequence) add_row(rows, 0);
    return operation == kEndSequence;
  }

  LineBytes unit_;
  bool is_wide_;
  LineSections sections_;
  std::uint16_t version_ = 0;
  std::uint8_t step_bytes_ = 1;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 1;
  std::uint8_t first_special_ = 1;
  std::array<std::uint8_t, 256> operands_ = {};
  std::uint32_t first_file_ = 0;
  std::uint32_t file_count_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t file_ = 1;
  int line_ = 1;
};

}  // namespace

LineTable::LineTable(const std::string& path) {
  const ElfFile file(path);
  const LineSections sections = {file.section(".debug_line_str"), file.section(".debug_str")};
  LineBytes units(file.section(".debug_line"));
  constexpr std::uint32_t kWide = 0xFFFFFFFF;
  while (!units.is_empty()) {
    std::uint64_t bytes = units.take<std::uint32_t>();
    const bool is_wide = bytes == kWide;
    if (is_wide) bytes = units.take<std::uint64_t>();
    UnitLineReader(units.part(bytes), is_wide, sections).read(files_, rows_);
  }
  // Where one sequence ends another may begin.
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::pair(a.address, a.line != 0) < std::pair(b.address, b.line != 0);
  });
}

SourceLine LineTable::at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), address,
                       [](std::uint64_t one, const Row& row) { return one < row.address; });
  if (after == rows_.begin()) return {};
  const Row& row = *std::prev(after);
  if (row.line == 0 || row.file >= files_.size()) return {};
  return {files_[row.file], row.line};
}

}  // namespace ohm::engine
