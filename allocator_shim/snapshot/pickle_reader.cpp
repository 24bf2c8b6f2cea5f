#include "allocator_shim/snapshot/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "allocator_shim/base/utf8.h"
#include "allocator_shim/snapshot/foreign_file.h"

namespace ohm {

namespace {

/// Snapshots need six.
constexpr std::size_t kMaxMarks = 64;
// What a file makes the machine remember is in proportion to its size, or else it was made to fill
// memory. pickle puts at most 2,000 values on the stack before it takes them away, other writers a
// whole list; whatever is of use takes more bytes of the file than these.
constexpr std::size_t kLeastBytesPerValue = 24;
constexpr std::size_t kLeastBytesPerMemo = 4;
constexpr std::size_t kAlwaysAllowed = 16384;
/// How far up the stack something may be used a second time while it waits: two batches.
constexpr std::size_t kMaxEarlyDistance = 4096;

}  // namespace

void PickleReader::Memo::push_back(const MemoSlot& slot) {
  if (size_ % kChunkSlots == 0) {
    chunks_.push_back(std::make_unique_for_overwrite<MemoSlot[]>(kChunkSlots));
  }
  (*this)[size_++] = slot;
}

// ---- bytes --------------------------------------------------------------------------------------

void PickleReader::refuse(const std::string& why) const { throw PickleError(offset_, why); }

void PickleReader::refuse_end(std::uint64_t count) const {
  refuse(
      fmt::format("the file ends within what begins here ({} more bytes are needed): it is "
                  "cut short or damaged",
                  count));
}

inline const char* PickleReader::take(std::size_t count) {
  if (!bytes_.has(count)) [[unlikely]]
    refuse_end(count);
  const char* at = bytes_.front();
  bytes_.skip(count);
  return at;
}

template <typename Integer>
inline Integer PickleReader::little_endian() {
  static_assert(std::endian::native == std::endian::little);
  Integer value;
  std::memcpy(&value, take(sizeof value), sizeof value);
  return value;
}

void PickleReader::read_header() {
  if (!bytes_.has(1)) refuse("the file is empty");
  if (static_cast<std::uint8_t>(*bytes_.front()) !=
      static_cast<std::uint8_t>(PickleOpcode::proto)) {
    const std::string_view foreign = foreign_file_at(bytes_);
    if (!foreign.empty()) refuse(fmt::format("this is not a memory snapshot but {}", foreign));
    refuse(
        fmt::format("this is not a memory snapshot: it begins with 0x{:02X}, a pickle of protocol "
                    "2 to 5 with 0x80",
                    static_cast<std::uint8_t>(*bytes_.front())));
  }
  take(1);
  const auto protocol = little_endian<std::uint8_t>();
  if (protocol < 2 || protocol > 5) {
    refuse(fmt::format("pickle protocol {}: 2 to 5 can be read", protocol));
  }
}

// ---- values -------------------------------------------------------------------------------------

/// What the file says must not decide alone how much memory is taken.
void PickleReader::check_height() const {
  if (stack_.size() <= kAlwaysAllowed + offset_ / kLeastBytesPerValue) return;
  refuse(fmt::format("{} values wait for their list or dictionary", stack_.size()));
}

inline void PickleReader::push(Kind kind, std::uint64_t payload) {
  if (stack_.size() == stack_.capacity()) [[unlikely]]
    check_height();
  stack_.push_back({payload, offset_, 0, kind, 0});
}

void PickleReader::push_long(std::uint64_t length) {
  const char* bytes = take(length);
  // Two's complement of any length: bytes beyond the eighth only repeat the sign.
  const bool is_negative = length > 0 && static_cast<signed char>(bytes[length - 1]) < 0;
  const char sign = is_negative ? '\xFF' : '\0';
  for (std::uint64_t i = 8; i < length; ++i) {
    if (bytes[i] != sign) return push(Kind::huge_integer, 0);
  }
  std::uint64_t value = is_negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&value, bytes, length < 8 ? length : 8);
  const bool value_is_negative = static_cast<std::int64_t>(value) < 0;
  push(value_is_negative == is_negative ? Kind::integer : Kind::huge_integer, value);
}

void PickleReader::push_real() {
  std::uint64_t bits = 0;
  for (const char *byte = take(8), *end = byte + 8; byte != end; ++byte) {
    bits = bits << 8U | static_cast<std::uint8_t>(*byte);
  }
  push(Kind::real, bits);
}

void PickleReader::push_text(std::uint64_t length) {
  const std::string_view text(take(length), length);
  if (first_invalid_utf8(text)) [[unlikely]]
    return push_odd_text(text);
  push(Kind::text, handler_.on_text(text));
}

/// Python writes what it could not read of a file name as surrogates, three bytes each, which are
/// not UTF-8: they become U+FFFD.
void PickleReader::push_odd_text(std::string_view text) {
  std::string valid;
  std::string_view rest = text;
  while (const auto invalid = first_invalid_utf8(rest)) {
    const std::string_view surrogate = rest.substr(*invalid, 3);
    const bool is_surrogate = surrogate.size() == 3 && surrogate[0] == '\xED' &&
                              (surrogate[1] & 0xE0) == 0xA0 && (surrogate[2] & 0xC0) == 0x80;
    if (!is_surrogate) {
      refuse(fmt::format("a text of {} bytes whose byte {} is not UTF-8", text.size(),
                         text.size() - rest.size() + *invalid));
    }
    valid.append(rest.substr(0, *invalid)).append("\xEF\xBF\xBD");
    rest.remove_prefix(*invalid + 3);
  }
  push(Kind::text, handler_.on_text(valid.append(rest)));
}

void PickleReader::check_frame() {
  const auto length = little_endian<std::uint64_t>();
  const auto left = bytes_.bytes_left();
  if (left && length > *left) {
    refuse(
        fmt::format("a frame of {} bytes begins here, but {} are left: the file is cut short or "
                    "damaged",
                    length, *left));
  }
}

// ---- containers ---------------------------------------------------------------------------------

std::size_t PickleReader::pop_mark() {
  if (marks_.empty()) refuse("a MARK is missing");
  const std::size_t first = marks_.back();
  marks_.pop_back();
  return first;
}

PickleValue& PickleReader::container(std::size_t index, Kind kind) {
  // What stands below the last MARK is out of reach, as in pickle.
  if (index >= stack_.size() || (!marks_.empty() && index < marks_.back())) {
    refuse(fmt::format("{} is missing", name_of(kind)));
  }
  PickleValue& value = stack_[index];
  if (value.kind != kind) {
    refuse(fmt::format("items are added to {}, not to {}", name_of(value.kind), name_of(kind)));
  }
  if (value.is_used_again()) {
    refuse(fmt::format("items are added to {} that is used already, or that contains itself",
                       name_of(kind)));
  }
  return value;
}

/// From now on the memo tells what has become of it.
void PickleReader::publish(PickleValue& value) {
  const PickleHandler::Reuse reuse = handler_.on_finished(value);
  if (value.memo == 0) return;
  MemoSlot& slot = memo_[value.memo - 1];
  slot.payload = static_cast<std::uint32_t>(value.payload);
  slot.role = value.role;
  slot.state =
      reuse == PickleHandler::Reuse::shared ? MemoSlot::State::shared : MemoSlot::State::once;
}

void PickleReader::finish(std::span<PickleValue> items) {
  for (PickleValue& item : items) {
    if (item.kind >= Kind::list && !item.is_used_again()) publish(item);
  }
}

/// Of two items of a list that are the same, the second is asked for while the first still waits.
void PickleReader::publish_early(std::uint32_t number) {
  const std::size_t least = stack_.size() - std::min(stack_.size(), kMaxEarlyDistance);
  for (std::size_t i = stack_.size(); i-- > least;) {
    if (stack_[i].memo != number + 1) continue;
    publish(stack_[i]);
    stack_[i].memo = PickleValue::kUsedAgain;
    return;
  }
  refuse(fmt::format("entry {} of the memo, {}, is used before it is finished", number,
                     name_of(memo_[number].kind)));
}

void PickleReader::make_tuple(std::size_t first) {
  if (first > stack_.size() || (!marks_.empty() && first < marks_.back())) {
    refuse("an item of a tuple is missing");
  }
  PickleValue tuple = {0, offset_, 0, Kind::tuple, 0};
  const std::span<PickleValue> items = std::span(stack_).subspan(first);
  finish(items);
  handler_.on_tuple(tuple, items);
  stack_.resize(first);
  push(Kind::tuple, tuple.payload);
  stack_.back().role = tuple.role;
}

void PickleReader::add_list_items(std::size_t list, std::size_t first) {
  PickleValue& into = container(list, Kind::list);
  const std::span<PickleValue> items = std::span(stack_).subspan(first);
  finish(items);
  if (!items.empty()) handler_.on_list_items(into, items);
  stack_.resize(first);
}

void PickleReader::add_dict_items(std::size_t dict, std::size_t first) {
  PickleValue& into = container(dict, Kind::dict);
  const std::span<PickleValue> items = std::span(stack_).subspan(first);
  if (items.size() % 2 != 0) refuse("a dictionary's last key has no value");
  finish(items);
  if (!items.empty()) handler_.on_dict_items(into, items);
  publish(into);
  stack_.resize(first);
}

void PickleReader::make_from_mark(Kind kind) {
  // As if the empty container had stood before the MARK.
  const std::size_t mark = pop_mark();
  const PickleValue empty = {0, offset_, 0, kind, 0};
  stack_.insert(stack_.begin() + static_cast<std::ptrdiff_t>(mark), empty);
  if (kind == Kind::list) return add_list_items(mark, mark + 1);
  add_dict_items(mark, mark + 1);
}

// ---- memo ---------------------------------------------------------------------------------------

void PickleReader::put(std::uint32_t number) {
  if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) {
    refuse("there is nothing to memoize");
  }
  PickleValue& value = stack_.back();
  if (value.kind < Kind::text) refuse(fmt::format("memoizes {}", name_of(value.kind)));
  if (value.memo != 0) refuse("memoizes what is in the memo already");
  if (number != memo_.size() || number == PickleValue::kUsedAgain - 1) {
    refuse(fmt::format("entry {} of the memo is made after {} entries: it is number {}", number,
                       memo_.size(), memo_.size()));
  }
  if (number % kAlwaysAllowed == 0 && number > kAlwaysAllowed + offset_ / kLeastBytesPerMemo) {
    refuse(fmt::format("{} entries of the memo after so few bytes", number));
  }
  const auto state =
      value.kind < Kind::list ? MemoSlot::State::shared : MemoSlot::State::unfinished;
  memo_.push_back({static_cast<std::uint32_t>(value.payload), value.kind, value.role, state});
  value.memo = number + 1;
}

void PickleReader::get(std::uint32_t number) {
  if (number >= memo_.size()) {
    refuse(fmt::format("entry {} of the memo is used before it is made", number));
  }
  if (memo_[number].state == MemoSlot::State::unfinished) publish_early(number);
  const MemoSlot& slot = memo_[number];
  if (slot.state == MemoSlot::State::once) {
    refuse(fmt::format(
        "entry {} of the memo, {}, is used a second time: only texts, frames and lists of frames "
        "may be",
        number, name_of(slot.kind)));
  }
  push(slot.kind, slot.payload);
  stack_.back().memo = PickleValue::kUsedAgain;
  stack_.back().role = slot.role;
}

// ---- the machine --------------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-function-size): one line an opcode reads best in one piece.
inline void PickleReader::execute(PickleOpcode opcode) {
  using Op = PickleOpcode;
  switch (opcode) {
    case Op::bin_get:
      return get(little_endian<std::uint8_t>());
    case Op::long_bin_get:
      return get(little_endian<std::uint32_t>());
    case Op::memoize:
      return put(memo_.size());
    case Op::bin_put:
      return put(little_endian<std::uint8_t>());
    case Op::long_bin_put:
      return put(little_endian<std::uint32_t>());

    case Op::bin_int:
      return push(Kind::integer,
                  static_cast<std::uint64_t>(std::int64_t{little_endian<std::int32_t>()}));
    case Op::bin_int1:
      return push(Kind::integer, little_endian<std::uint8_t>());
    case Op::bin_int2:
      return push(Kind::integer, little_endian<std::uint16_t>());
    case Op::long1:
      return push_long(little_endian<std::uint8_t>());
    case Op::long4: {
      const auto length = little_endian<std::int32_t>();
      if (length < 0) refuse("an integer of a negative number of bytes");
      return push_long(static_cast<std::uint64_t>(length));
    }
    case Op::bin_float:
      return push_real();
    case Op::none:
      return push(Kind::none, 0);
    case Op::new_true:
      return push(Kind::boolean, 1);
    case Op::new_false:
      return push(Kind::boolean, 0);
    case Op::short_bin_unicode:
      return push_text(little_endian<std::uint8_t>());
    case Op::bin_unicode:
      return push_text(little_endian<std::uint32_t>());
    case Op::bin_unicode8:
      return push_text(little_endian<std::uint64_t>());

    case Op::mark:
      if (marks_.size() == kMaxMarks) refuse(fmt::format("nested more than {} deep", kMaxMarks));
      marks_.push_back(stack_.size());
      return;
    case Op::empty_list:
      return push(Kind::list, 0);
    case Op::empty_dict:
      return push(Kind::dict, 0);
    case Op::append:
      return add_list_items(stack_.size() - 2, stack_.size() - 1);
    case Op::appends: {
      const std::size_t first = pop_mark();
      return add_list_items(first - 1, first);
    }
    case Op::set_item:
      return add_dict_items(stack_.size() - 3, stack_.size() - 2);
    case Op::set_items: {
      const std::size_t first = pop_mark();
      return add_dict_items(first - 1, first);
    }
    case Op::list:
      return make_from_mark(Kind::list);
    case Op::dict:
      return make_from_mark(Kind::dict);
    case Op::empty_tuple:
      return make_tuple(stack_.size());
    case Op::tuple1:
      return make_tuple(stack_.size() - 1);
    case Op::tuple2:
      return make_tuple(stack_.size() - 2);
    case Op::tuple3:
      return make_tuple(stack_.size() - 3);
    case Op::tuple:
      return make_tuple(pop_mark());

    case Op::frame:
      return check_frame();
    case Op::stop:
      return;
    case Op::proto:
      refuse("a second PROTO");
  }
  refuse(refusal_of_opcode(static_cast<std::uint8_t>(opcode)));
}

bool PickleReader::step() {
  offset_ = bytes_.offset();
  if (!bytes_.has(1)) refuse("the file ends before the pickle does: it is cut short");
  const auto opcode = PickleOpcode{little_endian<std::uint8_t>()};
  execute(opcode);
  return opcode != PickleOpcode::stop;
}

PickleValue PickleReader::read() {
  read_header();
  while (step()) {
  }
  if (stack_.size() != 1 || !marks_.empty()) {
    refuse(fmt::format("the pickle stops with {} values unfinished", stack_.size()));
  }
  finish(stack_);
  return stack_.front();
}

void PickleReader::check_end() {
  offset_ = bytes_.offset();
  if (bytes_.has(1)) refuse("more bytes follow the end of the pickle");
}

}  // namespace ohm
