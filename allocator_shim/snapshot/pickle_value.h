// Values of a pickle, as its reader tells a handler of them, and the error that either throws.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ohm {

/// "byte 1234: what is wrong": 0-based, where the opcode begins that was refused or whose value
/// was.
class PickleError : public std::invalid_argument {
 public:
  PickleError(std::uint64_t offset, const std::string& what);
  /// The same with the name of the file in front.
  PickleError(const std::string& file, const PickleError& error);

  std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t offset_;
};

struct PickleValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,       ///< fits std::int64_t
    huge_integer,  ///< does not
    real,
    text,
    tuple,
    list,
    dict,
  };

  /// The number (integer, boolean; of a real its bits), or what the handler keeps here.
  std::uint64_t payload = 0;
  std::uint64_t offset = 0;  ///< of the opcode that put it here
  std::uint32_t memo = 0;    ///< 1 + number in the memo; 0: not there; or kUsedAgain
  Kind kind = Kind::none;
  std::uint8_t role = 0;  ///< what the handler made of a container; 0 at first

  /// In the place of a memo number: GET has brought this value.
  static constexpr std::uint32_t kUsedAgain = ~std::uint32_t{0};
  bool is_used_again() const { return memo == kUsedAgain; }

  std::int64_t integer() const { return static_cast<std::int64_t>(payload); }
  double real() const;
};

/// "an integer", "a dictionary", ….
std::string_view name_of(PickleValue::Kind kind);

/// Told what a pickle holds. It may change payload and role of the container that it is given; what
/// stays below 2^32 there survives a second use. Throws PickleError for what it does not take.
class PickleHandler {
 public:
  PickleHandler() = default;
  PickleHandler(const PickleHandler&) = delete;
  PickleHandler& operator=(const PickleHandler&) = delete;
  virtual ~PickleHandler() = default;

  /// The payload of this text, below 2^32; it is UTF-8.
  virtual std::uint64_t on_text(std::string_view text) = 0;
  virtual void on_tuple(PickleValue& tuple, std::span<const PickleValue> items) = 0;
  /// Comes again for every batch.
  virtual void on_list_items(PickleValue& list, std::span<const PickleValue> items) = 0;
  /// Key, value, key, value, …; comes again for every batch.
  virtual void on_dict_items(PickleValue& dict, std::span<const PickleValue> items) = 0;

  enum class Reuse : std::uint8_t { shared, once };
  /// The list or dictionary will not change any more (a dictionary of many items may once again).
  /// Says whether it may be used in several places.
  virtual Reuse on_finished(PickleValue& container) = 0;
};

}  // namespace ohm
