// What is not a pickle of plain data is refused, with the offset of the opcode that shows it.
#include "allocator_shim/snapshot/pickle_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/temp_folder.h"

namespace ohm {
namespace {

using namespace std::string_literals;
using test::Pickle;
using test::RefusedPickle;

constexpr const char* kRuns =
    "would run code or make objects; memory snapshots are plain data, so this is something else, "
    "and it is not opened";

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<RefusedPickle> bad_pickles() {
  return {
      // Opcodes that do something.
      {"global", Pickle().here().raw("cos\nsystem\n."),
       fmt::format("the opcode GLOBAL (0x63) {}", kRuns)},
      {"stack_global", Pickle().text("os").text("system").here().raw("\x93."),
       fmt::format("the opcode STACK_GLOBAL (0x93) {}", kRuns)},
      {"reduce", Pickle().text("x").raw(")").here().raw("R."),
       fmt::format("the opcode REDUCE (0x52) {}", kRuns)},
      {"build", Pickle().raw("}}").here().raw("b."),
       fmt::format("the opcode BUILD (0x62) {}", kRuns)},
      {"inst", Pickle().raw("(").here().raw("ios\nsystem\n."),
       fmt::format("the opcode INST (0x69) {}", kRuns)},
      {"newobj_ex", Pickle().here().raw("\x92."),
       fmt::format("the opcode NEWOBJ_EX (0x92) {}", kRuns)},
      {"ext1", Pickle().here().raw("\x82\x01."), fmt::format("the opcode EXT1 (0x82) {}", kRuns)},
      {"binpersid", Pickle().number(1).here().raw("Q."),
       fmt::format("the opcode BINPERSID (0x51) {}", kRuns)},
      {"next_buffer", Pickle().here().raw("\x97."),
       fmt::format("the opcode NEXT_BUFFER (0x97) {}", kRuns)},
      // Opcodes that no snapshot has.
      {"set", Pickle().here().raw("\x8F."),
       "the opcode EMPTY_SET (0x8F) does not occur in memory snapshots"},
      {"bytes", Pickle().here().raw("C\x01x."),
       "the opcode SHORT_BINBYTES (0x43) does not occur in memory snapshots"},
      {"pop", Pickle().raw("N").here().raw("0."),
       "the opcode POP (0x30) does not occur in memory snapshots"},
      {"no_opcode", Pickle().here().raw("\xFF."),
       "0xFF is not an opcode of pickle: the file is damaged"},
      {"second_proto", Pickle().here().raw("\x80\x04."), "a second PROTO"},

      // Cut short.
      {"no_stop", Pickle().raw("}").here(),
       "the file ends before the pickle does: it is cut short"},
      {"within_a_number", Pickle().here().raw("J\x01\x02"),
       "the file ends within what begins here (4 more bytes are needed): it is cut short or "
       "damaged"},
      {"within_a_text",
       Pickle().here().raw("\x8C\x05"
                           "abcd"),
       "the file ends within what begins here (5 more bytes are needed): it is cut short or "
       "damaged"},
      {"endless_text", Pickle().here().raw("\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F."),
       "the file ends within what begins here (9223372036854775807 more bytes are needed): it is "
       "cut "
       "short or damaged"},
      {"endless_frame", Pickle().here().raw("\x95\x10\x00\x00\x00\x00\x00\x00\x00."s),
       "a frame of 16 bytes begins here, but 1 are left: the file is cut short or damaged"},
      {"more_bytes",
       Pickle()
           .dict()
           .text("segments")
           .raw("]")
           .text("device_traces")
           .raw("]")
           .end_dict()
           .raw(".")
           .here()
           .raw("}."),
       "more bytes follow the end of the pickle"},

      // A machine that is led astray.
      {"mark_missing", Pickle().raw("]").here().raw("e."), "a MARK is missing"},
      {"list_missing", Pickle().raw("(").here().raw("e."), "a list is missing"},
      {"nothing_to_append_to", Pickle().raw("N").here().raw("a."), "a list is missing"},
      {"below_the_mark", Pickle().raw("](N").here().raw("a."), "a list is missing"},
      {"append_to_a_dict", Pickle().raw("}N").here().raw("a."),
       "items are added to a dictionary, not to a list"},
      {"dict_missing", Pickle().raw("NN").here().raw("s."), "a dictionary is missing"},
      {"key_without_value", Pickle().raw("}(N").here().raw("u."),
       "a dictionary's last key has no value"},
      {"short_tuple", Pickle().raw("N").here().raw("\x87."), "an item of a tuple is missing"},
      {"unfinished", Pickle().raw("NN").here().raw("."),
       "the pickle stops with 2 values unfinished"},
      {"open_mark", Pickle().raw("N(").here().raw("."),
       "the pickle stops with 1 values unfinished"},
      {"negative_length", Pickle().here().raw("\x8B\xFF\xFF\xFF\xFF."),
       "an integer of a negative number of bytes"},
      {"not_text",
       Pickle().here().raw("\x8C\x03"
                           "a\xFF"
                           "b."),
       "a text of 3 bytes whose byte 1 is not UTF-8"},

      // The memo.
      {"unmade_memo", Pickle().here().raw("h\x00."s),
       "entry 0 of the memo is used before it is made"},
      {"unmade_large_memo", Pickle().here().raw("j\xFF\xFF\xFF\xFF."),
       "entry 4294967295 of the memo is used before it is made"},
      {"memo_bomb", Pickle().raw("}").here().raw("r\xFF\xFF\xFF\x7F."),
       "entry 2147483647 of the memo is made after 0 entries: it is number 0"},
      {"memoized_twice", Pickle().raw("}\x94").here().raw("\x94."),
       "memoizes what is in the memo already"},
      {"memoized_number", Pickle().number(1).here().raw("\x94."), "memoizes an integer"},
      {"memoized_nothing", Pickle().here().raw("\x94."), "there is nothing to memoize"},
      {"memoized_mark", Pickle().raw("}(").here().raw("\x94."), "there is nothing to memoize"},
      {"list_in_itself", Pickle().raw("]\x94(h\x00"s).here().raw("e."),
       "items are added to a list that is used already, or that contains itself"},
      {"dict_in_itself", Pickle().raw("}\x94(Nh\x00"s).here().raw("u."),
       "items are added to a dictionary that is used already, or that contains itself"},
      {"item_of_itself", Pickle().raw("]\x94h\x00"s).here().raw("a."),
       "items are added to a list that is used already, or that contains itself"},
      {"entry_twice",
       Pickle()
           .snapshot()
           .traces()
           .raw("}\x94(")
           .text("action")
           .text("alloc")
           .text("addr")
           .number(1)
           .text("size")
           .number(2)
           .raw("u")
           .here()
           .raw("h\x00"s)
           .end(),
       "entry 0 of the memo, a dictionary, is used a second time: only texts, frames and lists of "
       "frames may be"},
      {"values_that_pile_up", Pickle().raw(std::string(32768, 'N')).here().raw("N."),
       "32768 values wait for their list or dictionary"},
      {"memo_that_piles_up",
       Pickle()
           .raw(repeated("(" + repeated("]\x94", 500) + "l", 98))
           .raw("(" + repeated("]\x94", 152) + "]")
           .here()
           .raw("\x94"),
       "49152 entries of the memo after so few bytes"},
      {"deep_marks", Pickle().raw(std::string(64, '(')).here().raw("(."),
       "nested more than 64 deep"},
  };
}

class BadPickle : public testing::TestWithParam<RefusedPickle> {};

TEST_P(BadPickle, IsRefusedWithThePlace) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Table, BadPickle, testing::ValuesIn(bad_pickles()),
                         [](const auto& info) { return std::string(info.param.name); });

struct ForeignFile {
  std::string begin;
  const char* message;
};

TEST(PickleReader, SaysWhatAFileIsThatIsNoPickle) {
  const ForeignFile kFiles[] = {
      {"", "byte 0: the file is empty"},
      {"PK\x03\x04...",
       "byte 0: this is not a memory snapshot but a zip archive (torch.save "
       "writes such files)"},
      {"\x1F\x8B\x08",
       "byte 0: this is not a memory snapshot but compressed with gzip: unpack it "
       "first"},
      {"\x93NUMPY\x01", "byte 0: this is not a memory snapshot but a NumPy array"},
      {"{\"segments\": []}", "byte 0: this is not a memory snapshot but text, perhaps JSON"},
      {"hello",
       "byte 0: this is not a memory snapshot: it begins with 0x68, a pickle of protocol 2 "
       "to 5 with 0x80"},
      {"(dp0\n.",
       "byte 0: this is not a memory snapshot: it begins with 0x28, a pickle of protocol "
       "2 to 5 with 0x80"},
      {"\x80",
       "byte 0: the file ends within what begins here (1 more bytes are needed): it is cut "
       "short or damaged"},
      {"\x80\x01.", "byte 0: pickle protocol 1: 2 to 5 can be read"},
      {"\x80\x06.", "byte 0: pickle protocol 6: 2 to 5 can be read"},
      // What torch.save wrote before it wrote zip archives: a number, then more pickles.
      {"\x80\x02\x8A\x0Al\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.",
       "byte 2: the pickle holds an integer beyond 64 bits, not a memory snapshot: that is a "
       "dictionary with 'segments' and 'device_traces'"},
  };
  for (const ForeignFile& file : kFiles) {
    try {
      read_snapshot(file.begin);
      ADD_FAILURE() << "was read: " << file.begin;
    } catch (const PickleError& error) {
      EXPECT_STREQ(error.what(), file.message);
    }
  }
}

TEST(PickleReader, RefusesEverySnapshotThatIsCutShort) {
  const std::string whole = test::read_file(test::golden_path("snapshots/linear_no_grad.pickle"));
  ASSERT_NO_THROW(read_snapshot(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      read_snapshot(std::string_view(whole).substr(0, length));
      ADD_FAILURE() << length << " of " << whole.size() << " bytes were read as a snapshot";
    } catch (const PickleError& error) {
      EXPECT_LE(error.offset(), length);
    }
  }
}

TEST(PickleReader, ReadsOrRefusesASnapshotWithADamagedByte) {
  std::string bytes = test::read_file(test::golden_path("snapshots/linear_no_grad.pickle"));
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char was = bytes[i];
    bytes[i] = static_cast<char>(was ^ 0x81);
    try {
      read_snapshot(bytes);
    } catch (const PickleError& error) {
      EXPECT_LE(error.offset(), bytes.size());
      ++refused;
    }
    bytes[i] = was;
  }
  EXPECT_GT(refused, 2000);  // of 3,590: the rest are digits of numbers
}

TEST(PickleReader, ReadsSurrogatesAsReplacementCharacters) {
  const Pickle pickle = Pickle()
                            .dict()
                            .text("segments")
                            .raw("]")
                            .text("device_traces")
                            .raw("]")
                            .text("external_annotations")
                            .list()
                            .dict()
                            .text("stage")
                            .text("END")
                            .text("name")
                            .text(
                                "a\xED\xB3\xBF"
                                "b")
                            .end_dict()
                            .end_list()
                            .end_dict()
                            .raw(".");
  const Snapshot snapshot = read_snapshot(pickle.bytes());
  EXPECT_EQ(snapshot.tables.text(snapshot.external_annotations.at(0).name),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(SnapshotFile, IsNamedWithWhatIsWrongAboutIt) {
  const test::TempFolder folder;
  const std::string path = folder.write("bad.pickle", "\x80\x04N.");
  const auto message_of = [](const std::string& of) -> std::string {
    try {
      read_snapshot_file(of);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "was read";
  };
  EXPECT_EQ(message_of(path), path +
                                  ": byte 2: the pickle holds None, not a memory snapshot: that "
                                  "is a dictionary with 'segments' and 'device_traces'");
  const std::string missing = folder.file("missing.pickle");
  EXPECT_EQ(message_of(missing), "cannot read " + missing + ": No such file or directory");
  const std::string itself = folder.path().string();
  EXPECT_EQ(message_of(itself), "cannot read " + itself + ": Is a directory");
}

TEST(SnapshotFile, MayBeAPipe) {
  const std::string bytes = test::read_file(test::golden_path("snapshots/linear_no_grad.pickle"));
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  EXPECT_EQ(read_snapshot_file(fmt::format("/dev/fd/{}", ends[0])).segments.size(), 7U);
  ::close(ends[0]);
}

}  // namespace
}  // namespace ohm
