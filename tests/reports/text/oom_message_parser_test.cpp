#include "reports/text/oom_message_parser.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "allocator_shim/base/bytes.h"
#include "reports/console/oom_explanation.h"
#include "tests/support/text.h"

namespace ohm::reports {
namespace {

using test::contains;
using test::on_one_line;

constexpr const char* kFull2 =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.00 GiB. GPU 1 has a total "
    "capacity of 8.00 GiB of which 2.41 GiB is free. Including non-PyTorch memory, this process "
    "has "
    "5.59 GiB memory in use. Of the allocated memory 5.08 GiB is allocated by PyTorch, and 3.95 "
    "MiB "
    "is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
    "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";

constexpr const char* kFull1 =
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total "
    "capacity; "
    "6.92 GiB already allocated; 8.44 MiB free; 6.93 GiB reserved in total by PyTorch)";

TEST(OomMessage, ReadsWhatPyTorch26Prints) {
  const OomMessage message = parse_oom_message(kFull2);
  EXPECT_EQ(message.gpu, 1);
  EXPECT_EQ(message.requested.bytes, 5.0 * 1_GiB);
  EXPECT_EQ(message.capacity->bytes, 8.0 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.free->bytes, 2.41 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.this_process->bytes, 5.59 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.allocated->bytes, 5.08 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.reserved->bytes, 5.08 * 1_GiB + 3.95 * 1_MiB);
  EXPECT_FALSE(message.allowed);
  EXPECT_EQ(cause_of(message), OomCause::full);
}

TEST(OomMessage, ReadsTheFormOfPyTorch1) {
  const OomMessage message = parse_oom_message(kFull1);
  EXPECT_EQ(message.gpu, 0);
  EXPECT_EQ(message.requested.bytes, 20.0 * 1_MiB);
  EXPECT_DOUBLE_EQ(message.capacity->bytes, 7.79 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.allocated->bytes, 6.92 * 1_GiB);
  EXPECT_DOUBLE_EQ(message.free->bytes, 8.44 * 1_MiB);
  EXPECT_DOUBLE_EQ(message.reserved->bytes, 6.93 * 1_GiB);
  EXPECT_EQ(cause_of(message), OomCause::full);
  const OomMessage cached = parse_oom_message(
      "CUDA out of memory. Tried to allocate 2.00 KiB (GPU 0; 1.00 GiB total capacity; 700.00 MiB "
      "already allocated; 512 bytes free; 200.00 MiB cached)");
  EXPECT_EQ(cached.reserved->bytes, 900.0 * 1_MiB);
  EXPECT_EQ(cached.free->bytes, 512);
  // Of 10.92 GiB 10.24 GiB are this process's: no other process is on the card.
  EXPECT_EQ(OomCause::fragmented,
            cause_of(parse_oom_message(
                "CUDA out of memory. Tried to allocate 376.00 MiB (GPU 0; 10.92 GiB total "
                "capacity; 7.71 GiB already allocated; 314.50 MiB free; 2.21 GiB cached)")));
  EXPECT_EQ(OomCause::full,
            cause_of(parse_oom_message(
                "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; "
                "7.31 GiB already allocated; 11.88 MiB free; 8.10 MiB cached; 0 bytes inactive)")));
}

TEST(OomMessage, IsFoundInALogThatBreaksItsLines) {
  std::string log = "epoch 3\n  File \"train.py\", line 7\n" + std::string(kFull2);
  for (std::size_t at = 60; at < log.size(); at += 40) {
    const std::size_t blank = log.find(' ', at);
    if (blank != std::string::npos) log.replace(blank, 1, "\r\n\t");
  }
  EXPECT_DOUBLE_EQ(parse_oom_message(log + "\nepoch 4\n" + kFull1).capacity->bytes, 8.0 * 1_GiB);
}

TEST(OomMessage, ReadsTheMisspeltFormOfPyTorch21) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacty of 14.75 GiB of "
      "which 500.00 MiB is free. Process 4711 has 9.00 GiB memory in use. Process 12 has 5.26 GiB "
      "memory in use. Of the allocated memory 4.70 GiB is allocated by PyTorch, with 100.00 MiB "
      "allocated in private pools (e.g., CUDA Graphs), and 80.00 MiB is reserved by PyTorch but "
      "unallocated.");
  EXPECT_DOUBLE_EQ(message.capacity->bytes, 14.75 * 1_GiB);
  // What has been reserved, and a context: no other process than this one.
  EXPECT_DOUBLE_EQ(message.this_process->bytes, 5.26 * 1_GiB);
  EXPECT_EQ(message.other_processes.size(), 1U);
  EXPECT_EQ(message.private_pools->bytes, 100.0 * 1_MiB);
  EXPECT_EQ(cause_of(message), OomCause::other_process);
  const std::string text = on_one_line(explained_oom_message(message, {}, 100));
  EXPECT_TRUE(contains(text, "9.00 GiB are in use by other processes")) << text;
  EXPECT_TRUE(contains(text, "100.00 MiB are in private pools")) << text;
}

TEST(OomMessage, TellsFragmentationFromAFullCard) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 16.00 GiB of "
      "which 200.00 MiB is free. Of the allocated memory 12.00 GiB is allocated by PyTorch, and "
      "3.30 GiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::fragmented);
  const std::string text = on_one_line(explained_oom_message(message, {}, 100));
  EXPECT_TRUE(contains(text, "GPU 0 is fragmented")) << text;
  EXPECT_TRUE(contains(text, "3.30 GiB are reserved but free, and 1.00 GiB were requested"))
      << text;
  EXPECT_TRUE(contains(text, "ohm explain fragmentation")) << text;
}

TEST(OomMessage, IsFragmentedWhereTheCacheWouldGiveWhatIsMissing) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 56.00 MiB. GPU 0 has a total capacity of 84.00 MiB of "
      "which 24.00 MiB is free. Of the allocated memory 24.00 MiB is allocated by PyTorch, and "
      "36.00 MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::fragmented);
  // 60 MiB of 15 GiB are what every allocator has left over.
  const OomMessage full = parse_oom_message(
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 15.90 GiB of "
      "which 10.00 MiB is free. Of the allocated memory 15.00 GiB is allocated by PyTorch, and "
      "60.00 MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(full), OomCause::full);
  const std::string text = on_one_line(explained_oom_message(full, {}, 100));
  EXPECT_TRUE(contains(text, "Of 15.06 GiB reserved 15.00 GiB are handed out.")) << text;
  EXPECT_TRUE(contains(text, "part of the cause is fragmentation")) << text;
}

TEST(OomMessage, SmallTensorsHaveSegmentsOfTheirOwn) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 130.00 MiB of "
      "which 0 bytes is free. Of the allocated memory 88.03 MiB is allocated by PyTorch, and 41.97 "
      "MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::fragmented);
  EXPECT_TRUE(contains(on_one_line(explained_oom_message(message, {}, 100)),
                       "2.00 MiB is a segment for tensors of 1 MiB or less"));
}

TEST(OomMessage, AFewHundredMegabytesOfADesktopAreNotTheCause) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which 50.00 MiB is free. Process 812 has 400.00 MiB memory in use. Including non-PyTorch "
      "memory, this process has 7.56 GiB memory in use. Of the allocated memory 7.20 GiB is "
      "allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::full);
  EXPECT_TRUE(contains(on_one_line(explained_oom_message(message, {}, 100)),
                       "400.00 MiB of the card are in use by other processes besides"));
}

TEST(OomMessage, FindsTheFractionThatAProcessIsAllowed) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 668.00 MiB. GPU 0 has a total capacity of 8.00 GiB of "
      "which 2.40 GiB is free. 6.00 GiB allowed; Of the allocated memory 5.60 GiB is allocated by "
      "PyTorch, and 3.95 MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(message.allowed->bytes, 6.0 * 1_GiB);
  EXPECT_EQ(cause_of(message), OomCause::fraction);
  EXPECT_TRUE(contains(on_one_line(explained_oom_message(message, {}, 100)),
                       "5.60 GiB reserved and 668.00 MiB requested are 6.26 GiB, more than the "));
  const OomMessage old = parse_oom_message(
      "CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; 3.00 GiB "
      "already allocated; 4.00 GiB free; 3.50 GiB allowed; 3.20 GiB reserved in total by PyTorch)");
  EXPECT_EQ(cause_of(old), OomCause::fraction);
}

TEST(OomMessage, FindsAnotherProcessThatIsNotNamed) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 1.29 GiB "
      "already allocated; 10.12 MiB free; 1.46 GiB reserved in total by PyTorch)");
  // 10.76 GiB less what is free and reserved is far more than a context; and more than the cache,
  // which would have been enough as well.
  EXPECT_EQ(cause_of(message), OomCause::other_process);
  EXPECT_TRUE(contains(on_one_line(explained_oom_message(message, {}, 100)),
                       "part of the cause is fragmentation"));
}

TEST(OomMessage, ARequestLargerThanTheCardFitsNowhere) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 200.00 GiB. GPU 0 has a total capacity of 79.10 GiB "
      "of "
      "which 70.00 GiB is free. Of the allocated memory 8.00 GiB is allocated by PyTorch, and 1.00 "
      "MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::too_large);
}

TEST(OomMessage, SaysWhatIsMissing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "there is no \"Tried to allocate\""},
      {"Segmentation fault", "there is no \"Tried to allocate\""},
      {"RuntimeError: CUDA error: out of memory", "has no figures"},
      {"CUBLAS_STATUS_ALLOC_FAILED", "has no figures"},
      {"Tried to allocate more than 1EB memory.", "more than an exabyte"},
      {"Tried to allocate lots", "is not followed by a size"},
      {"CUDA out of memory. Tried to allocate 20.00 MiB", "ends after"},
      {"Tried to allocate 1e999 GiB. GPU 0", "is not followed by a size"},
      {"Tried to allocate -1 GiB. GPU 0", "is not followed by a size"}};
  for (const auto& [text, says] : cases) {
    try {
      parse_oom_message(text);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(contains(error.what(), says)) << error.what();
    }
  }
}

TEST(OomMessage, OfARequestThatHadRoomSaysNoCause) {
  const char* const kMessages[] = {
      // The cache holds next to nothing.
      "CUDA out of memory. Tried to allocate 14.00 MiB (GPU 0; 10.92 GiB total capacity; 9.11 MiB "
      "already allocated; 9.31 GiB free; 12.89 MiB reserved in total by PyTorch)",
      // Others hold a part of the card, and the rest would do.
      "CUDA out of memory. Tried to allocate 2.10 GiB. GPU 0 has a total capacity of 4.00 GiB of "
      "which 2.85 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 "
      "bytes is reserved by PyTorch but unallocated.",
      // More is free than there is.
      "HIP out of memory. Tried to allocate 16.50 GiB. GPU 0 has a total capacity of 15.49 GiB of "
      "which 85.10 GiB is free. Of the allocated memory 1.70 GiB is allocated by PyTorch, and 8.00 "
      "GiB is reserved by PyTorch but unallocated.",
      // Nothing is held, and what is free is not said.
      "XPU out of memory. Tried to allocate 7.90 GiB. GPU 0 has a total capacity of 15.11 GiB. Of "
      "the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch "
      "but "
      "unallocated.",
      // Less than what is allowed.
      "XPU out of memory. Tried to allocate 8.05 GiB. GPU 0 has a total capacity of 16.54 GiB of "
      "which 16.54 GiB is free. 8.27 GiB allowed; Of the allocated memory 0 bytes is allocated by "
      "PyTorch, and 0 bytes is reserved by PyTorch but unallocated."};
  for (const char* const text : kMessages) {
    const OomMessage message = parse_oom_message(text);
    EXPECT_EQ(cause_of(message), OomCause::not_said) << text;
    const std::string explained = explained_oom_message(message, {}, 100);
    EXPECT_TRUE(contains(explained, "does not say why GPU 0 refused")) << explained;
    EXPECT_FALSE(contains(explained, "ohm explain")) << explained;
  }
}

TEST(OomMessage, ReadsTheOneOfCudaMallocAsync) {
  const std::string head = "Allocation on device 1 would exceed allowed memory. (out of memory)\n";
  const OomMessage full = parse_oom_message(
      head +
      "Currently allocated     : 15.10 GiB\nRequested               : 512.00 KiB\nDevice limit     "
      "  "
      "     : 15.99 GiB\nFree (according to CUDA): 0 bytes\nPyTorch limit (set by user-supplied "
      "memory fraction)\n                        : 17179869184.00 GiB\n");
  EXPECT_EQ(full.gpu, 1);
  EXPECT_EQ(full.requested.bytes, 512 * 0x1p10);
  EXPECT_EQ(full.free->bytes, 0);
  EXPECT_FALSE(full.allowed.has_value());
  EXPECT_EQ(cause_of(full), OomCause::full);
  const OomMessage limited = parse_oom_message(
      head +
      "Currently allocated : 3.90 GiB\nRequested : 512.00 MiB\nDevice limit : 15.99 GiB\nFree "
      "(according to CUDA): 11.20 GiB\nPyTorch limit (set by user-supplied memory fraction) : 4.00 "
      "GiB\n");
  EXPECT_EQ(cause_of(limited), OomCause::fraction);
}

TEST(OomMessage, TheLastBytesOfACardAreNoRoom) {
  const OomMessage message = parse_oom_message(
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.65 GiB of "
      "which 25.06 MiB is free. Including non-PyTorch memory, this process has 23.60 GiB memory in "
      "use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 194.87 MiB is reserved "
      "by PyTorch but unallocated.");
  EXPECT_EQ(cause_of(message), OomCause::full);
}

TEST(OomMessage, ThatBreaksOffIsExplainedAsFarAsItGoes) {
  const std::string whole(kFull2);
  const OomMessage message =
      parse_oom_message(whole.substr(0, whole.find(" is reserved by PyTorch but")));
  EXPECT_TRUE(message.is_cut);
  EXPECT_FALSE(parse_oom_message(whole).is_cut);
  EXPECT_EQ(cause_of(message), OomCause::cut_off);
  const std::string text = on_one_line(explained_oom_message(message, {}, 100));
  EXPECT_TRUE(contains(text, "The message ends before the figures that say why GPU 1 refused"))
      << text;
  EXPECT_TRUE(contains(text, "5.08 GiB handed out to tensors")) << text;
  EXPECT_FALSE(contains(text, "ohm explain")) << text;
  // Larger than the card is what it is, whatever else the message would have said.
  EXPECT_EQ(OomCause::too_large,
            cause_of(parse_oom_message("CUDA out of memory. Tried to allocate 60.00 GiB (GPU 0; "
                                       "23.65 GiB total capacity; 1.2")));
}

TEST(OomMessage, NamesPitfallsThatExist) {
  for (const OomCause cause : {OomCause::too_large, OomCause::fraction, OomCause::fragmented,
                               OomCause::other_process, OomCause::full}) {
    for (const std::string& name : pitfalls_of(cause)) {
      EXPECT_TRUE(std::filesystem::exists(std::string(OHM_SCENARIOS) + "/" + name + ".lua"))
          << name;
    }
  }
}

}  // namespace
}  // namespace ohm::reports
