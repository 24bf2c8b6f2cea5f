#include "harness/process/memory_image.h"

#include <alloca.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "harness/process/stopwatch.h"

namespace ohm::engine {

namespace {

// Sanitizers keep account of the memory elsewhere.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOtherBooks = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr bool kHasOtherBooks = true;
#else
constexpr bool kHasOtherBooks = false;
#endif
#else
constexpr bool kHasOtherBooks = false;
#endif

constexpr std::uintptr_t kPageBytes = 4096;
/// What is below the stack's pointer when an image is taken, and still in use.
constexpr std::uintptr_t kBelowTheFrame = 4096;

char* memory_at(std::uintptr_t address) {
  return reinterpret_cast<char*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uintptr_t page_of(std::uintptr_t address) { return address / kPageBytes; }
std::uintptr_t page_after(std::uintptr_t address) { return page_of(address + kPageBytes - 1); }

/// The lowest number that an open file would get; others of a process with other open files.
int next_descriptor() {
  const int next = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (next >= 0) ::close(next);
  return next;
}

std::uintptr_t end_of_heap() { return static_cast<std::uintptr_t>(::syscall(SYS_brk, nullptr)); }

/// As much as fits; nullopt: it cannot be read.
std::optional<std::size_t> read_file(const char* path, char* text, std::size_t room) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::size_t size = 0;
  ssize_t more = 0;
  while (size < room && (more = ::read(file, text + size, room - size)) > 0) {
    size += static_cast<std::size_t>(more);
  }
  ::close(file);
  return more < 0 ? std::nullopt : std::optional(size);
}

}  // namespace

/// Made without the heap, which it is an image of.
struct MemoryImage::Copy {
  static constexpr std::size_t kMostRanges = 256;
  static constexpr std::size_t kMostPages = std::size_t{1} << 15U;
  static constexpr std::size_t kMostStackPages = 256;
  /// Where one page is written to, another process writes to the next one.
  static constexpr std::size_t kPagesOfAGroup = 8;

  /// Pages that can be written to, and are not shared.
  struct Range {
    std::uintptr_t begin = 0;  ///< a page's number
    std::uintptr_t end = 0;
    bool has(std::uintptr_t address) const {
      return begin <= page_of(address) && page_of(address) < end;
    }
  };

  struct Ranges {
    std::size_t count = 0;
    std::array<Range, kMostRanges> all;
    std::size_t heap = kMostRanges;   ///< the one that ends where the heap does
    std::size_t stack = kMostRanges;  ///< the one that this thread is on
  };

  std::size_t most_bytes = 0;
  // What a process needs to know from take() to put_back().
  Ranges then;
  Ranges now;
  std::uintptr_t heap_end = 0;
  int next_descriptor = -1;
  std::jmp_buf registers;
  std::size_t copied = 0;
  std::array<std::uintptr_t, kMostPages> copied_pages;
  std::array<bool, kMostPages> was_present;  ///< of each page, by its place
  // What all of them find out.
  /// Groups of pages that are written to, by their places: see for_each_range().
  std::array<bool, kMostPages / kPagesOfAGroup> is_written;
  std::size_t takes = 0;
  std::size_t misses = 0;
  double seconds_of_a_take = 0;  ///< with a take: of the quickest one
  std::array<char, std::size_t{1} << 16U> text;
  std::array<std::uint64_t, kMostPages> entries;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }

  static std::optional<Range> writable_range(std::string_view line);
  bool is_worth_it() const;
  bool read(Ranges& ranges);
  bool has_same_ranges();
  bool prepare(std::uintptr_t frame);
  template <class Visit>
  bool for_each_range(Visit visit);
  template <class Visit>
  bool for_each_entry(Visit visit);
  bool note_written();
  bool has_only_known_changes();
  bool copy_all();
  [[noreturn, gnu::noinline]] void restore();
};

/// Of "begin-end rw-p …" in /proc/self/maps; nullopt for what is not written to, or is shared.
std::optional<MemoryImage::Copy::Range> MemoryImage::Copy::writable_range(std::string_view line) {
  constexpr std::string_view kPrivate = "rw-p";
  constexpr std::string_view kPrivateCode = "rwxp";
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  if (first.ec != std::errc() || first.ptr == last) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, last, end, 16);
  if (second.ec != std::errc() || second.ptr == last) return std::nullopt;
  const std::string_view access =
      line.substr(static_cast<std::size_t>(second.ptr + 1 - line.data()), kPrivate.size());
  if (access != kPrivate && access != kPrivateCode) return std::nullopt;
  return Range{page_of(begin), page_of(end)};
}

/// Not where most processes ended after one trial all the same.
bool MemoryImage::Copy::is_worth_it() const {
  constexpr std::size_t kFree = 16;
  return misses <= kFree + takes / 4;
}

/// False where there are too many of them.
bool MemoryImage::Copy::read(Ranges& ranges) {
  const std::optional<std::size_t> size = read_file("/proc/self/maps", text.data(), text.size());
  if (!size || *size == text.size()) return false;
  const std::uintptr_t heap = end_of_heap();
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  ranges.count = 0;
  ranges.heap = ranges.stack = kMostRanges;
  std::string_view rest(text.data(), *size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::optional<Range> range = writable_range(line);
    if (!range) continue;
    if (ranges.count == kMostRanges) return false;
    // What a copy of a process adds to its heap the system keeps apart.
    const bool goes_on = ranges.count > 0 && ranges.all[ranges.count - 1].end == range->begin;
    if (!goes_on) ranges.all[ranges.count++].begin = range->begin;
    const std::size_t index = ranges.count - 1;
    ranges.all[index].end = range->end;
    if (range->has(heap - 1)) ranges.heap = index;
    if (range->has(frame)) ranges.stack = index;
  }
  return ranges.stack != kMostRanges && ranges.heap != kMostRanges;
}

/// But for the heap and the stack, which may have grown.
bool MemoryImage::Copy::has_same_ranges() {
  if (end_of_heap() < heap_end || !read(now)) return false;
  if (now.count != then.count || now.heap != then.heap || now.stack != then.stack) return false;
  for (std::size_t i = 0; i < now.count; ++i) {
    if (i != now.stack && now.all[i].begin != then.all[i].begin) return false;
    if (i != now.heap && now.all[i].end != then.all[i].end) return false;
  }
  return true;
}

bool MemoryImage::Copy::prepare(std::uintptr_t frame) {
  if (!read(then)) return false;
  // Of the stack what is in use, of the heap what it was given.
  then.all[then.stack].begin = page_of(frame - kBelowTheFrame);
  heap_end = end_of_heap();
  then.all[then.heap].end = page_after(heap_end);
  next_descriptor = engine::next_descriptor();
  return true;
}

/// visit(range, place of its first page). The place of a page is the same for all processes: the
/// heap, which grows, comes last, and the stack grows downwards into room of its own. False where
/// there are too many pages.
template <class Visit>
bool MemoryImage::Copy::for_each_range(Visit visit) {
  std::size_t place = kMostStackPages;
  const auto take = [&](const Range& range) {
    const std::size_t pages = range.end - range.begin;
    if (pages > kMostPages - place) return false;
    visit(range, place);
    place += pages;
    return true;
  };
  const Range& stack = then.all[then.stack];
  if (stack.end - stack.begin > kMostStackPages) return false;
  visit(stack, kMostStackPages - (stack.end - stack.begin));
  for (std::size_t i = 0; i < then.count; ++i) {
    if (i != then.stack && i != then.heap && !take(then.all[i])) return false;
  }
  return take(then.all[then.heap]);
}

/// visit(place, whether the page is there, whether this process has written to it). False where the
/// kernel does not tell.
template <class Visit>
bool MemoryImage::Copy::for_each_entry(Visit visit) {
  constexpr std::uint64_t kIsPresent = std::uint64_t{1} << 63U;
  constexpr std::uint64_t kIsSwapped = std::uint64_t{1} << 62U;
  constexpr std::uint64_t kIsOfAFile = std::uint64_t{1} << 61U;
  constexpr std::uint64_t kIsOfThisProcessAlone = std::uint64_t{1} << 56U;
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  bool is_known = file >= 0;
  const bool fits = for_each_range([&](const Range& range, std::size_t place) {
    const std::size_t pages = range.end - range.begin;
    const std::size_t size = pages * sizeof entries[0];
    is_known = is_known && ::pread(file, entries.data(), size,
                                   static_cast<off_t>(range.begin * sizeof entries[0])) ==
                               static_cast<ssize_t>(size);
    for (std::size_t i = 0; is_known && i < pages; ++i) {
      if ((entries[i] & kIsSwapped) != 0) is_known = false;
      const std::uint64_t own = entries[i] & (kIsPresent | kIsOfAFile | kIsOfThisProcessAlone);
      visit(place + i, (entries[i] & kIsPresent) != 0, own == (kIsPresent | kIsOfThisProcessAlone));
    }
  });
  if (file >= 0) ::close(file);
  return is_known && fits;
}

/// Pages that this process has written to by now belong to the image.
bool MemoryImage::Copy::note_written() {
  return for_each_entry([this](std::size_t place, bool is_present, bool is_written_to) {
    was_present[place] = is_present;
    if (is_written_to) is_written[place / kPagesOfAGroup] = true;
  });
}

/// Whether the image has every page that was written to, or given back, since it was taken. Those
/// that it does not have belong to the next ones.
bool MemoryImage::Copy::has_only_known_changes() {
  bool has_new = false;
  const bool is_told = for_each_entry([&](std::size_t place, bool is_present, bool is_written_to) {
    const bool has_gone = was_present[place] && !is_present;
    if (!is_written_to && !has_gone) return;
    bool& is_known = is_written[place / kPagesOfAGroup];
    has_new = has_new || !is_known;
    is_known = true;
  });
  return is_told && !has_new;
}

/// False where there are too many bytes.
bool MemoryImage::Copy::copy_all() {
  copied = 0;
  for_each_range([&](const Range& range, std::size_t place) {
    for (std::uintptr_t page = range.begin; page < range.end; ++page, ++place) {
      if (is_written[place / kPagesOfAGroup]) copied_pages[copied++] = page;
    }
  });
  if (copied * kPageBytes > most_bytes) return false;
  for (std::size_t i = 0; i < copied; ++i) {
    std::memcpy(bytes() + i * kPageBytes, memory_at(copied_pages[i] * kPageBytes), kPageBytes);
  }
  return true;
}

/// Below the stack that it overwrites.
void MemoryImage::Copy::restore() {
  // What malloc gets anew it takes to be zero.
  ::syscall(SYS_brk, memory_at(heap_end));
  for (std::size_t i = 0; i < copied; ++i) {
    std::memcpy(memory_at(copied_pages[i] * kPageBytes), bytes() + i * kPageBytes, kPageBytes);
  }
  ::_longjmp(registers, 1);
}

MemoryImage::MemoryImage(std::size_t most_bytes) {
  if (most_bytes == 0 || kHasOtherBooks) return;
  if (::sysconf(_SC_PAGESIZE) != static_cast<long>(kPageBytes)) return;
  void* const memory = ::mmap(nullptr, sizeof(Copy) + most_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  copy_ = static_cast<Copy*>(memory);
  copy_->most_bytes = most_bytes;
}

MemoryImage::~MemoryImage() {
  if (copy_ != nullptr) ::munmap(copy_, sizeof(Copy) + copy_->most_bytes);
}

MemoryImage::Taken MemoryImage::take() {
  if (copy_ == nullptr || ::__libc_single_threaded == 0) return Taken::not_possible;
  const Stopwatch stopwatch;
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (!copy_->is_worth_it() || !copy_->prepare(frame)) return Taken::not_possible;
  if (_setjmp(copy_->registers) != 0) return Taken::put_back;
  if (!copy_->note_written() || !copy_->copy_all()) return Taken::not_possible;
  const double seconds = stopwatch.seconds();
  if (copy_->takes++ == 0 || seconds < copy_->seconds_of_a_take) {
    copy_->seconds_of_a_take = seconds;
  }
  return Taken::now;
}

double MemoryImage::seconds_of_a_take() const { return copy_->seconds_of_a_take; }

void MemoryImage::put_back() {
  if (!copy_->has_same_ranges() || copy_->next_descriptor != next_descriptor() ||
      !copy_->has_only_known_changes()) {
    ++copy_->misses;
    return;
  }
  // The copy is made from below what is overwritten.
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t lowest =
      copy_->then.all[copy_->then.stack].begin * kPageBytes - kBelowTheFrame;
  const std::size_t room = frame > lowest ? frame - lowest : 0;
  // Used, or the compiler leaves it out.
  *static_cast<volatile char*>(alloca(room + 1)) = 0;
  copy_->restore();
}

}  // namespace ohm::engine
