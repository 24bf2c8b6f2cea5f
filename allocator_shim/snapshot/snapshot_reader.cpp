#include "allocator_shim/snapshot/snapshot_reader.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>

#include "allocator_shim/snapshot/snapshot_builder.h"

namespace ohm {

Snapshot read_snapshot(ByteWindow& bytes) {
  SnapshotBuilder builder;
  PickleReader reader(bytes, builder);
  try {
    Snapshot snapshot = builder.finish(reader.read());
    reader.check_end();
    return snapshot;
  } catch (const std::length_error&) {
    throw PickleError(reader.offset(), "more text or frames than can be kept");
  }
}

Snapshot read_snapshot(std::string_view bytes) {
  ByteWindow window(bytes);
  return read_snapshot(window);
}

Snapshot read_snapshot_file(InputFile& file, const std::string& path) {
  ByteWindow window([&](std::span<char> room) { return file.read(room); }, file.bytes());
  try {
    return read_snapshot(window);
  } catch (const PickleError& error) {
    throw PickleError(path, error);
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

Snapshot read_snapshot_file(const std::string& path) {
  std::optional<InputFile> file;
  try {
    file.emplace(path);
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
  return read_snapshot_file(*file, path);
}

}  // namespace ohm
