#include "allocator_shim/interpose/host/lost_blocks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "allocator_shim/interpose/host/call_stack.h"
#include "allocator_shim/interpose/host/process_copy.h"

namespace ohm::interpose::host {

namespace {

/// More would take longer than the programs that are swept.
constexpr std::uint64_t kMostScannedBytes = std::uint64_t{1} << 30;

/// Registers that a function leaves as they were, by their DWARF numbers.
#if defined(__x86_64__)
constexpr std::array kKeptRegisters = {3, 6, 12, 13, 14, 15};
#else
constexpr std::array kKeptRegisters = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif

/// Where the C library's allocator has the block behind this one: it keeps such pointers itself.
std::uintptr_t next_chunk(std::uintptr_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t kHeader = 2 * sizeof(std::size_t);
  constexpr std::uint64_t kLeast = 2 * kHeader;
  const std::uint64_t whole = (bytes + sizeof(std::size_t) + kHeader - 1) / kHeader * kHeader;
  return begin - kHeader + std::max(kLeast, whole);
}

/// Of the innermost function that is not of the C library, which ends the process: what lies
/// deeper are leftovers.
struct ProgramFrame {
  std::uintptr_t stack = 0;  ///< where it ends; 0: there is none
  std::array<std::uintptr_t, kKeptRegisters.size()> registers = {};
};

_Unwind_Reason_Code find_program_frame(_Unwind_Context* context, void* into) {
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (is_own_code(address) || is_of_c_library(address)) return _URC_NO_REASON;
  ProgramFrame& frame = *static_cast<ProgramFrame*>(into);
  frame.stack = _Unwind_GetCFA(context);
  for (std::size_t i = 0; i < kKeptRegisters.size(); ++i) {
    frame.registers[i] = _Unwind_GetGR(context, kKeptRegisters[i]);
  }
  return _URC_END_OF_STACK;
}

ProgramFrame program_frame() {
  ProgramFrame frame;
  _Unwind_Backtrace(find_program_frame, &frame);
  return frame;
}

/// A line of /proc/self/maps.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_writable = false;
  bool is_of_file = false;
  std::string_view name;
};

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

Mapping mapping_of(std::string_view line) {
  Mapping mapping;
  const std::string_view range = next_word(line);
  const char* const end = range.data() + range.size();
  const auto begin_read = std::from_chars(range.data(), end, mapping.begin, 16);
  if (begin_read.ptr < end) std::from_chars(begin_read.ptr + 1, end, mapping.end, 16);
  mapping.is_writable = next_word(line).starts_with("rw");
  next_word(line);  // the offset
  next_word(line);  // the device
  mapping.is_of_file = next_word(line) != "0";
  mapping.name = next_word(line);
  return mapping;
}

}  // namespace

LostBlocks::~LostBlocks() {
  marks_.release();
  pending_.release();
  mappings_.release();
  if (memory_ >= 0) close(memory_);
}

bool LostBlocks::find(const LiveBlocks& alive) {
  if (has_several_threads()) return false;
  if (!take(alive)) return false;
  if (count_ == 0) return true;
  memory_ = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory_ < 0 || !read_mappings()) return false;
  std::string_view text(mappings_.data());
  while (!text.empty() && scanned_ < kMostScannedBytes) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const Mapping mapping = mapping_of(line);
    if (!mapping.is_writable || is_own_place(mapping.begin)) continue;
    is_allocators_ = is_c_library(mapping.name);
    if (mapping.name == "[stack]") {
      scan_stack(mapping.begin, mapping.end);
    } else if (mapping.name == "[heap]") {
      scan_root(mapping.begin, std::clamp(watched_heap_, mapping.begin, mapping.end));
    } else if (mapping.is_of_file) {
      scan_unsafe(mapping.begin, mapping.end);
    } else {
      scan_root(mapping.begin, mapping.end);
    }
  }
  is_allocators_ = false;
  follow();
  return scanned_ < kMostScannedBytes;
}

bool LostBlocks::take(const LiveBlocks& alive) {
  const std::size_t count = alive.count();
  if (count > 0 && (!marks_.reserve(count) || !pending_.reserve(count))) return false;
  for (const LiveBlock& block : alive.slots()) {
    if (block.address == 0) continue;
    marks_[count_++] = {block.address, block.bytes, block.site, false};
  }
  std::sort(marks_.data(), marks_.data() + count_,
            [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
  return true;
}

/// Before it is looked through: reading it in parts might show a mapping twice.
bool LostBlocks::read_mappings() {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 16;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::size_t used = 0;
  for (;;) {
    if (!mappings_.reserve(std::max(kFirstBytes, used + kFirstBytes / 4))) break;
    const ssize_t got = read(file, mappings_.data() + used, mappings_.size() - used - 1);
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  close(file);
  if (used == 0) return false;
  mappings_[used] = '\0';
  return true;
}

/// Only what the program's functions still have there.
void LostBlocks::scan_stack(std::uintptr_t begin, std::uintptr_t end) {
  const ProgramFrame frame = program_frame();
  for (const std::uintptr_t word : frame.registers) reach(word);
  const bool is_in_stack = begin <= frame.stack && frame.stack < end;
  scan(is_in_stack ? frame.stack : begin, end);
}

void LostBlocks::scan_root(std::uintptr_t begin, std::uintptr_t end) {
  const Mark* block = std::upper_bound(
      marks_.data(), marks_.data() + count_, begin,
      [](std::uintptr_t address, const Mark& mark) { return address < mark.begin + mark.bytes; });
  for (const Mark* const last = marks_.data() + count_; block != last && block->begin < end;
       ++block) {
    scan(begin, std::max(begin, block->begin));
    begin = std::max(begin, block->begin + block->bytes);
  }
  scan(begin, end);
}

/// Memory that may not be there, as what a mapping has behind the end of its file.
void LostBlocks::scan_unsafe(std::uintptr_t begin, std::uintptr_t end) {
  std::array<std::uintptr_t, 512> page;
  for (; begin < end; begin += sizeof(page)) {
    const std::size_t bytes = std::min<std::size_t>(sizeof(page), end - begin);
    const ssize_t got = pread(memory_, page.data(), bytes, static_cast<off_t>(begin));
    if (got <= 0) continue;
    scanned_ += static_cast<std::uint64_t>(got);
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(page[0]); ++i)
      reach(page[i]);
  }
}

void LostBlocks::scan(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
  begin = (begin + kWord - 1) / kWord * kWord;
  if (begin >= end) return;
  scanned_ += end - begin;
  if (scanned_ >= kMostScannedBytes) return;
  for (; begin + kWord <= end; begin += kWord) {
    reach(*reinterpret_cast<const std::uintptr_t*>(begin));
  }
}

/// A pointer into a block, or just behind it, leads to it.
void LostBlocks::reach(std::uintptr_t word) {
  Mark* const first = marks_.data();
  Mark* const last = first + count_;
  if (word < first->begin || word > last[-1].begin + last[-1].bytes) return;
  Mark* const mark =
      std::upper_bound(first, last, word,
                       [](std::uintptr_t address, const Mark& m) { return address < m.begin; }) -
      1;
  if (mark->is_reached || word > mark->begin + mark->bytes) return;
  if (is_allocators_ && word == next_chunk(mark->begin, mark->bytes)) return;
  mark->is_reached = true;
  pending_[pending_count_++] = static_cast<std::uint32_t>(mark - first);
}

void LostBlocks::follow() {
  while (pending_count_ > 0 && scanned_ < kMostScannedBytes) {
    const Mark mark = marks_[pending_[--pending_count_]];
    // A program may forbid itself the access to whole pages.
    constexpr std::uint64_t kPage = 4096;
    if (mark.bytes < kPage) {
      scan(mark.begin, mark.begin + mark.bytes);
    } else {
      scan_unsafe(mark.begin, mark.begin + mark.bytes);
    }
  }
}

}  // namespace ohm::interpose::host
