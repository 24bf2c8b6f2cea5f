#include "allocator_shim/interpose/reduction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ohm::interpose {
namespace {

// Numbers of ncclRedOp_t; 0, and whatever a program makes of it, is a sum.
constexpr int kProduct = 1;
constexpr int kMaximum = 2;
constexpr int kMinimum = 3;
constexpr int kAverage = 4;

/// Elements in memory, and what they are computed with: halves with floats, rounded once.
template <class Number>
struct Plain {
  using Computed = Number;
  using Stored = Number;
  static Computed load(Stored stored) { return stored; }
  static Stored store(Computed value) { return value; }
};

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

struct BrainFloat {
  using Computed = float;
  using Stored = std::uint16_t;
  static float load(Stored stored) { return float_of(std::uint32_t{stored} << 16U); }
  static Stored store(float value) {
    if (value != value) return 0x7FC0;
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t to_even = 0x7FFF + (bits >> 16U & 1U);
    return static_cast<Stored>((bits + to_even) >> 16U);
  }
};

/// IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct Half {
  using Computed = float;
  using Stored = std::uint16_t;
  static constexpr float kSmallest = 0x1p-24F;  ///< above zero
  static constexpr float kSmallestNormal = 0x1p-14F;
  static constexpr float kOverflow = 65520;  ///< rounds to infinity, as everything above it

  static float load(Stored stored) {
    const std::uint32_t sign = (stored & 0x8000U) << 16U;
    const std::uint32_t magnitude = stored & 0x7FFFU;
    const std::uint32_t exponent = magnitude >> 10U;
    if (exponent == 0) {
      const float value = static_cast<float>(magnitude) * kSmallest;
      return sign != 0 ? -value : value;
    }
    const std::uint32_t rebias = exponent == 31 ? (255 - 31) << 23U : (127 - 15) << 23U;
    return float_of(sign | ((magnitude << 13U) + rebias));
  }

  static Stored store(float value) {
    const std::uint32_t bits = bits_of(value);
    const auto sign = static_cast<std::uint32_t>(bits >> 16U & 0x8000U);
    const float magnitude = float_of(bits & 0x7FFFFFFFU);
    std::uint32_t half = 0;
    if (magnitude != magnitude) {
      half = 0x7E00;
    } else if (magnitude >= kOverflow) {
      half = 0x7C00;
    } else if (magnitude < kSmallestNormal) {
      // The sum's last bit is the smallest half's: the addition rounds.
      half = bits_of(magnitude + 0.5F) - bits_of(0.5F);
    } else {
      const std::uint32_t rebased = bits_of(magnitude) - ((127U - 15U) << 23U);
      half = (rebased + 0xFFF + (rebased >> 13U & 1U)) >> 13U;
    }
    return static_cast<Stored>(sign | half);
  }
};

/// Integers wrap around.
template <class Number, class Combine>
Number wrapped(Number a, Number b, const Combine& combine) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(
        combine(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return combine(a, b);
  }
}

template <class Number>
Number combined(Number a, Number b, int operation) {
  switch (operation) {
    case kProduct:
      return wrapped(a, b, [](auto x, auto y) { return x * y; });
    case kMaximum:
      return std::max(a, b);
    case kMinimum:
      return std::min(a, b);
    default:
      return wrapped(a, b, [](auto x, auto y) { return x + y; });
  }
}

template <class Number>
Number divided(Number total, int ranks) {
  if constexpr (std::is_unsigned_v<Number>) {
    return static_cast<Number>(std::uint64_t{total} / static_cast<std::uint64_t>(ranks));
  } else if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(std::int64_t{total} / ranks);
  } else {
    return total / static_cast<Number>(ranks);
  }
}

struct Piece {
  std::byte* total;
  std::size_t count;
  int operation;
};

template <class Type>
void add_to(const Piece& piece, const void* part, double scale, bool is_first) {
  using Computed = typename Type::Computed;
  auto* const total = reinterpret_cast<Computed*>(piece.total);
  const auto* const stored = static_cast<const typename Type::Stored*>(part);
  for (std::size_t index = 0; index < piece.count; ++index) {
    Computed value = Type::load(stored[index]);
    if (scale != 1) value = static_cast<Computed>(static_cast<double>(value) * scale);
    total[index] = is_first ? value : combined(total[index], value, piece.operation);
  }
}

template <class Type>
void write_to(const Piece& piece, void* to, int ranks) {
  using Computed = typename Type::Computed;
  const auto* const total = reinterpret_cast<const Computed*>(piece.total);
  auto* const stored = static_cast<typename Type::Stored*>(to);
  const int divisor = piece.operation == kAverage ? ranks : 1;
  for (std::size_t index = 0; index < piece.count; ++index) {
    stored[index] = Type::store(divided(total[index], divisor));
  }
}

template <class Type>
double number_of(const void* element) {
  return static_cast<double>(Type::load(*static_cast<const typename Type::Stored*>(element)));
}

struct Arithmetic {
  void (*add_to)(const Piece& piece, const void* part, double scale, bool is_first);
  void (*write_to)(const Piece& piece, void* to, int ranks);
  double (*number_of)(const void* element);
};

template <class Type>
constexpr Arithmetic kArithmetic = {&add_to<Type>, &write_to<Type>, &number_of<Type>};

struct DataType {
  std::size_t bytes;
  Arithmetic arithmetic;
};

template <class Type>
constexpr DataType kDataType = {sizeof(typename Type::Stored), kArithmetic<Type>};
constexpr DataType kEightBits = {1, {nullptr, nullptr, nullptr}};

/// ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
/// fp8 (e4m3, e5m2).
constexpr std::array<DataType, 12> kDataTypes = {kDataType<Plain<std::int8_t>>,
                                                 kDataType<Plain<std::uint8_t>>,
                                                 kDataType<Plain<std::int32_t>>,
                                                 kDataType<Plain<std::uint32_t>>,
                                                 kDataType<Plain<std::int64_t>>,
                                                 kDataType<Plain<std::uint64_t>>,
                                                 kDataType<Half>,
                                                 kDataType<Plain<float>>,
                                                 kDataType<Plain<double>>,
                                                 kDataType<BrainFloat>,
                                                 kEightBits,
                                                 kEightBits};

const Arithmetic& arithmetic_of(int data_type) {
  return kDataTypes[static_cast<std::size_t>(data_type)].arithmetic;
}

}  // namespace

std::size_t element_bytes(int data_type) {
  const auto index = static_cast<std::size_t>(data_type);
  return index < kDataTypes.size() ? kDataTypes[index].bytes : 0;
}

double number_at(const void* element, int data_type) {
  return arithmetic_of(data_type).number_of(element);
}

bool Reduction::can_reduce(int data_type) { return arithmetic_of(data_type).add_to != nullptr; }

Reduction::Reduction(int data_type, int operation) : data_type_(data_type), operation_(operation) {}

void Reduction::begin(std::size_t count) {
  constexpr std::size_t kLargestElement = sizeof(double);
  total_.resize(std::max(total_.size(), count * kLargestElement));
  count_ = count;
  is_first_ = true;
}

void Reduction::add(const void* part, double scale) {
  arithmetic_of(data_type_).add_to({total_.data(), count_, operation_}, part, scale, is_first_);
  is_first_ = false;
}

void Reduction::finish(void* to, int ranks) const {
  auto* const total = const_cast<std::byte*>(total_.data());
  arithmetic_of(data_type_).write_to({total, count_, operation_}, to, ranks);
}

}  // namespace ohm::interpose
