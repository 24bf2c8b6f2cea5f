// Writes a snapshot as large as wanted, to try by hand what opens it: EVENTS of 20 frames each to
// PATH. 4,400,000 of them are a file of 500 MB.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/support/large_snapshot.h"

int main(int argc, char** argv) {
  const std::size_t events = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (events == 0) {
    std::cerr << "usage: write_large_snapshot EVENTS PATH\n";
    return 2;
  }
  std::ofstream file(argv[2], std::ios::binary);
  ohm::test::write_large_snapshot(ohm::test::LargeSnapshot::with_frames, events,
                                  [&](std::string_view bytes) { file << bytes; });
  file.close();
  if (!file) std::cerr << argv[2] << " could not be written\n";
  return file ? 0 : 1;
}
