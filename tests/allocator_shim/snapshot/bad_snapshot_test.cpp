// Plain data that is not a memory snapshot is refused, with the offset of what shows it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/pickle_bytes.h"

namespace ohm {
namespace {

using namespace std::string_literals;
using test::Pickle;
using test::RefusedPickle;

/// A snapshot whose only trace has one entry with these fields.
Pickle entry_with(std::string_view key, std::string_view value) {
  return Pickle()
      .snapshot()
      .traces()
      .entry("alloc")
      .text("addr")
      .number(1)
      .text("size")
      .number(2)
      .text(key)
      .here()
      .raw(value)
      .end_dict()
      .end();
}

/// A segment of 1,024 bytes at 16 with these blocks and more fields.
Pickle segment(std::string_view blocks, std::string_view more = "") {
  return Pickle()
      .snapshot()
      .here()
      .dict()
      .text("address")
      .number(16)
      .text("total_size")
      .raw("M\x00\x04"s)
      .text("segment_type")
      .text("small")
      .text("blocks")
      .list()
      .raw(blocks)
      .end_list()
      .raw(more)
      .end_dict()
      .traces()
      .end();
}

std::string block(int address, int units_of_256) {
  Pickle block;
  block.dict()
      .text("state")
      .text("inactive")
      .text("address")
      .number(address)
      .text("size")
      .raw("M\x00"s)
      .raw(std::string(1, static_cast<char>(units_of_256)))
      .end_dict();
  return block.bytes().substr(2);
}

std::vector<RefusedPickle> bad_snapshots() {
  return {
      // Plain data, but not a snapshot.
      {"integer", Pickle().here().raw("\x8A\x01\x05."),
       "the pickle holds an integer, not a memory snapshot: that is a dictionary with 'segments' "
       "and "
       "'device_traces'"},
      {"list", Pickle().here().raw("]."),
       "the pickle holds a list, not a memory snapshot: that is a dictionary with 'segments' and "
       "'device_traces'"},
      {"other_dict", Pickle().here().dict().text("weight").number(1).end_dict().raw("."),
       "the pickle holds a dictionary, not a memory snapshot: that is a dictionary with 'segments' "
       "and "
       "'device_traces'"},
      {"no_traces", Pickle().here().dict().text("segments").raw("]").end_dict().raw("."),
       "a memory snapshot without 'device_traces'"},
      {"segments_is_a_number",
       Pickle()
           .dict()
           .text("segments")
           .here()
           .number(1)
           .text("device_traces")
           .raw("]")
           .end_dict()
           .raw("."),
       "an integer stands where a list of segments must stand"},
      {"traces_without_devices",
       Pickle()
           .dict()
           .text("segments")
           .raw("]")
           .text("device_traces")
           .here()
           .list()
           .entry("alloc")
           .text("addr")
           .number(1)
           .text("size")
           .number(2)
           .end_dict()
           .end_list()
           .end_dict()
           .raw("."),
       "a list of trace entries stands where a list of traces, one for each device must stand"},

      // Trace entries.
      {"unknown_action",
       Pickle()
           .snapshot()
           .traces()
           .dict()
           .text("size")
           .number(2)
           .text("addr")
           .number(1)
           .text("action")
           .here()
           .text("explode")
           .end_dict()
           .end(),
       "the action 'explode' of a trace entry is unknown"},
      {"action_that_is_ours",
       Pickle()
           .snapshot()
           .traces()
           .dict()
           .text("size")
           .number(2)
           .text("addr")
           .number(1)
           .text("action")
           .here()
           .text("relabel")
           .end_dict()
           .end(),
       "the action 'relabel' of a trace entry is unknown"},
      {"action_of_another_type",
       Pickle()
           .snapshot()
           .traces()
           .dict()
           .text("size")
           .number(2)
           .text("addr")
           .number(1)
           .text("action")
           .here()
           .number(1)
           .end_dict()
           .end(),
       "the action an integer of a trace entry is unknown"},
      {"entry_without_size",
       Pickle().snapshot().traces().here().entry("alloc").text("addr").number(1).end_dict().end(),
       "a trace entry without 'size'"},
      {"entry_without_addr",
       Pickle().snapshot().traces().here().entry("alloc").text("size").number(1).end_dict().end(),
       "a trace entry without 'addr'"},
      {"negative_size", entry_with("size", "J\xFB\xFF\xFF\xFF"),
       "'size' is -5: it must be an integer from 0 to 2^63 - 1"},
      {"negative_address", entry_with("addr", "\x8A\x01\xFF"),
       "'addr' is -1: it must be an integer from 0 to 2^63 - 1"},
      {"huge_size", entry_with("size", "\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s),
       "'size' is an integer beyond 64 bits: it must be an integer from 0 to 2^63 - 1"},
      {"size_of_another_type",
       entry_with("size",
                  "\x8C\x01"
                  "5"),
       "'size' is a text: it must be an integer from 0 to 2^63 - 1"},
      {"stream_none", entry_with("stream", "N"),
       "'stream' is None: it must be an integer of 64 bits"},
      {"time_real", entry_with("time_us", "G\x3F\xF0\x00\x00\x00\x00\x00\x00"s),
       "'time_us' is a real number: it must be an integer of 64 bits"},
      {"frames_dict", entry_with("frames", "}"),
       "a dictionary (empty) stands where a list of frames must stand"},
      {"frames_of_numbers",
       entry_with("frames",
                  "](K\x01"
                  "e"),
       "a list of another kind stands where a list of frames must stand"},
      {"entry_among_frames",
       Pickle()
           .snapshot()
           .traces()
           .dict()
           .text("size")
           .number(2)
           .text("action")
           .text("alloc")
           .text("addr")
           .number(1)
           .text("frames")
           .list()
           .dict()
           .text("filename")
           .text("a")
           .text("name")
           .text("b")
           .end_dict()
           .here()
           .number(7)
           .end_list()
           .end_dict()
           .end(),
       "an integer stands where a frame must stand"},
      {"line_of_another_type",
       Pickle()
           .snapshot()
           .traces()
           .dict()
           .text("size")
           .number(2)
           .text("action")
           .text("alloc")
           .text("addr")
           .number(1)
           .text("frames")
           .list()
           .dict()
           .text("filename")
           .text("a")
           .text("name")
           .text("b")
           .text("line")
           .here()
           .text("3")
           .end_dict()
           .end_list()
           .end_dict()
           .end(),
       "'line' is a text: it must be an integer of 64 bits"},
      {"number_among_entries",
       Pickle()
           .snapshot()
           .traces()
           .entry("alloc")
           .text("addr")
           .number(1)
           .text("size")
           .number(2)
           .end_dict()
           .here()
           .number(3)
           .end(),
       "an integer stands where a trace entry must stand"},
      {"written_in_steps",
       Pickle()
           .snapshot()
           .traces()
           .here()
           .raw("}")
           .text("action")
           .text("alloc")
           .raw("s")
           .text("size")
           .number(1)
           .raw("s")
           .end(),
       "a dictionary is written in several steps, which Python's pickle does not do"},

      // Segments and blocks.
      {"segment_without_type",
       Pickle()
           .snapshot()
           .here()
           .dict()
           .text("address")
           .number(1)
           .text("total_size")
           .number(1)
           .text("blocks")
           .raw("]")
           .end_dict()
           .traces()
           .end(),
       "a segment without 'segment_type'"},
      {"no_blocks", segment(""), "the segment at 0x10: its blocks take 0 of its 1024 bytes"},
      {"too_few_blocks", segment(block(16, 2)),
       "the segment at 0x10: its blocks take 512 of its 1024 bytes"},
      {"too_many_blocks", segment(block(16, 5)),
       "the segment at 0x10: its blocks take more than its 1024 bytes"},
      {"gap", segment(block(20, 4)),
       "the segment at 0x10: a block begins at 0x14, but the one before ends at 0x10"},
      {"block_without_size",
       Pickle()
           .snapshot()
           .dict()
           .text("address")
           .number(16)
           .text("total_size")
           .number(0)
           .text("segment_type")
           .text("small")
           .text("blocks")
           .list()
           .here()
           .dict()
           .text("state")
           .text("inactive")
           .end_dict()
           .end_list()
           .end_dict()
           .traces()
           .end(),
       "a block without 'size'"},
      {"unknown_state",
       Pickle()
           .snapshot()
           .dict()
           .text("address")
           .number(16)
           .text("total_size")
           .number(0)
           .text("segment_type")
           .text("small")
           .text("blocks")
           .list()
           .dict()
           .text("size")
           .number(0)
           .text("state")
           .here()
           .text("lost")
           .end_dict()
           .end_list()
           .end_dict()
           .traces()
           .end(),
       "'state' is a text: it must be 'active_allocated', 'active_pending_free' or 'inactive'"},
      {"unknown_type",
       Pickle()
           .snapshot()
           .dict()
           .text("address")
           .number(16)
           .text("total_size")
           .number(0)
           .text("blocks")
           .raw("]")
           .text("segment_type")
           .here()
           .text("tiny")
           .end_dict()
           .traces()
           .end(),
       "'segment_type' is a text: it must be 'small' or 'large'"},
      {"device",
       Pickle()
           .snapshot()
           .dict()
           .text("address")
           .number(16)
           .text("total_size")
           .number(0)
           .text("blocks")
           .raw("]")
           .text("segment_type")
           .text("small")
           .text("device")
           .here()
           .number(128)
           .end_dict()
           .traces()
           .end(),
       "'device' is 128: it must be from 0 to 127"},
      {"beyond_the_last_address",
       Pickle()
           .snapshot()
           .here()
           .dict()
           .text("address")
           .raw("\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F")
           .text("total_size")
           .number(1)
           .text("blocks")
           .raw("]")
           .text("segment_type")
           .text("small")
           .end_dict()
           .traces()
           .end(),
       "the segment at 0x7fffffffffffffff: its 1 bytes go beyond the last address"},
  };
}

class BadSnapshot : public testing::TestWithParam<RefusedPickle> {};

TEST_P(BadSnapshot, IsRefusedWithThePlace) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, BadSnapshot, testing::ValuesIn(bad_snapshots()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ohm
