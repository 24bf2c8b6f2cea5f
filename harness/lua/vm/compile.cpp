#include "harness/lua/vm/compile.h"

#include <cstdint>
#include <cstring>

#include "harness/lua/vm/nil_assignments.h"

namespace ohm::lua {
namespace {

constexpr std::uint32_t kCall = 68;
constexpr std::uint32_t kTailCall = 69;
constexpr std::uint32_t kOpcodeBits = 0x7FU;
constexpr std::uint32_t kFirstRegisterBits = 0xFFU << 7U;  // of the function to be called
constexpr std::uint32_t kArgumentCountBits = 0xFFU << 16U;

/// A precompiled chunk as lua_dump writes it in Lua 5.4, walked function by function.
class ChunkRewriter {
 public:
  explicit ChunkRewriter(std::string& chunk) : chunk_(chunk) {}

  /// False when the chunk does not look as expected; it may not be loaded then.
  bool replace_tail_calls() {
    if (chunk_.compare(0, 6, std::string_view("\x1bLua\x54\x00", 6)) != 0) return false;
    constexpr std::size_t kHeaderBytes = 6 + 6 + 3 + sizeof(lua_Integer) + sizeof(lua_Number);
    at_ = kHeaderBytes + 1;  // and the number of upvalues of the main function
    function();
    return is_sound_ && at_ == chunk_.size();
  }

 private:
  void skip(std::size_t bytes) {
    is_sound_ = is_sound_ && bytes <= chunk_.size() - at_;
    if (is_sound_) at_ += bytes;
  }

  // Seven bits a byte, the most significant first; the last byte has its eighth bit set.
  std::size_t size() {
    std::size_t value = 0;
    while (is_sound_ && at_ < chunk_.size()) {
      const auto byte = static_cast<unsigned char>(chunk_[at_++]);
      value = (value << 7U) | (byte & 0x7FU);
      if ((byte & 0x80U) != 0) return value;
    }
    is_sound_ = false;
    return 0;
  }

  // Its length plus one, or 0 for none.
  void string() {
    const std::size_t length = size();
    if (length > 0) skip(length - 1);
  }

  // Calls item() for each of a counted list.
  template <class F>
  void list(F&& item) {
    for (std::size_t left = size(); is_sound_ && left > 0; --left) item();
  }

  void function() {
    string();  // its source
    size();    // first line
    size();    // last line
    skip(3);   // parameters, whether there are more, registers
    list([this] { instruction(); });
    list([this] { constant(); });
    list([this] { skip(3); });  // where upvalues are
    list([this] { function(); });
    skip(size());  // lines of instructions
    list([this] { size(), size(); });
    list([this] { string(), size(), size(); });  // variables
    list([this] { string(); });                  // names of upvalues
  }

  void instruction() {
    const std::size_t place = at_;
    std::uint32_t bits = 0;
    skip(sizeof bits);
    if (!is_sound_) return;
    std::memcpy(&bits, chunk_.data() + place, sizeof bits);
    if ((bits & kOpcodeBits) != kTailCall) return;
    // The number of results is 0 here, which says: all of them.
    bits = (bits & (kFirstRegisterBits | kArgumentCountBits)) | kCall;
    std::memcpy(chunk_.data() + place, &bits, sizeof bits);
  }

  void constant() {
    const char kind = is_sound_ && at_ < chunk_.size() ? chunk_[at_] : '\0';
    skip(1);
    switch (kind) {
      case 0x03:
        return skip(sizeof(lua_Integer));
      case 0x13:
        return skip(sizeof(lua_Number));
      case 0x04:
      case 0x14:
        return string();
      default:  // nil and booleans
        return;
    }
  }

  std::string& chunk_;
  std::size_t at_ = 0;
  bool is_sound_ = true;
};

int append(lua_State* /*L*/, const void* bytes, std::size_t count, void* chunk) {
  static_cast<std::string*>(chunk)->append(static_cast<const char*>(bytes), count);
  return 0;
}

}  // namespace

int compile(lua_State* L, std::string_view source, const std::string& name) {
  const auto load = [&](std::string_view text) {
    return luaL_loadbufferx(L, text.data(), text.size(), name.c_str(), "t");
  };
  if (load(with_separate_nils(source)) != LUA_OK) {
    lua_pop(L, 1);
    if (const int status = load(source); status != LUA_OK) return status;
  }
  std::string chunk;
  lua_dump(L, &append, &chunk, 0);
  lua_pop(L, 1);
  if (!ChunkRewriter(chunk).replace_tail_calls()) {
    lua_pushliteral(L, "this Lua's bytecode differs from that of 5.4.4");
    return LUA_ERRSYNTAX;
  }
  return luaL_loadbufferx(L, chunk.data(), chunk.size(), name.c_str(), "b");
}

}  // namespace ohm::lua
