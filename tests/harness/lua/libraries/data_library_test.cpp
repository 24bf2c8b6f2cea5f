#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class DataLibrary : public ScriptTest {
 protected:
  /// `source` after what most tests use.
  std::string with(std::string_view source) {
    return "local data = ohm.utils.data "
           "local x = ohm.arange(10, {dtype = ohm.float32}):view(10, 1) "
           "local y = ohm.arange(10) "
           "local pairs_of = data.TensorDataset(x, y) "
           "local function drawn(loader) local out = {} "
           "for _, b in loader do out[#out + 1] = table.concat(b:tolist(), ',') end "
           "return table.concat(out, ' ') end " +
           std::string(source);
  }

  std::int64_t host_bytes() { return allocated(StatField::current); }
  std::int64_t host_peak() { return allocated(StatField::peak); }

 private:
  enum class StatField { current, peak };
  std::int64_t allocated(StatField field) {
    const auto& stat =
        machine_.context().host.allocator->stats().allocated_bytes[static_cast<std::size_t>(
            StatPool::all)];
    return field == StatField::current ? stat.current : stat.peak;
  }
};

TEST_F(DataLibrary, LoopsOverBatchesInOrderAndTheLastIsShorter) {
  EXPECT_EQ(text(with("return drawn(data.DataLoader(pairs_of, {batch_size = 4}))")),
            "0,1,2,3 4,5,6,7 8,9");
  EXPECT_EQ(text(with("local l = data.DataLoader(pairs_of, {batch_size = 4, drop_last = true}) "
                      "return drawn(l) .. ' #' .. #l")),
            "0,1,2,3 4,5,6,7 #2");
  EXPECT_EQ(number(with("return #data.DataLoader(pairs_of, {batch_size = 4})")), 3);
}

TEST_F(DataLibrary, EveryEpochStartsAnew) {
  EXPECT_EQ(text(with("local l = data.DataLoader(pairs_of, {batch_size = 5}) "
                      "return drawn(l) .. ' | ' .. drawn(l)")),
            "0,1,2,3,4 5,6,7,8,9 | 0,1,2,3,4 5,6,7,8,9");
}

TEST_F(DataLibrary, ItemsAreStackedAndNumbersBecomeTensors) {
  EXPECT_EQ(
      text(with("local set = data.Dataset{__len = function() return 4 end, "
                "__getitem = function(_, i) return ohm.zeros(3), i, i / 2, i > 1 end} "
                "for a, b, c, d in data.DataLoader(set, {batch_size = 4}) do "
                "return table.concat(a.shape, 'x') .. ' ' .. b.dtype .. ' ' .. c.dtype .. ' ' "
                ".. d.dtype .. ' ' .. table.concat(c:tolist(), ',') end")),
      "4x3 int64 float64 bool 0.0,0.5,1.0,1.5");
}

TEST_F(DataLibrary, TablesAreCollatedFieldByField) {
  EXPECT_EQ(
      text(with("local list = {} "
                "for i = 1, 4 do list[i] = {image = ohm.zeros(2), label = i, name = 'n' .. i} "
                "end for b in data.DataLoader(list, {batch_size = 2}) do "
                "return table.concat(b.image.shape, 'x') .. ' ' .. "
                "table.concat(b.label:tolist(), ',') .. ' ' .. table.concat(b.name, ',') end")),
      "2x2 1,2 n1,n2");
}

TEST_F(DataLibrary, ClassesOfTheScriptAreDataSets) {
  EXPECT_EQ(text(with("local Squares = data.Dataset:extend() "
                      "function Squares:__init(n) self.n = n end "
                      "function Squares:__len() return self.n end "
                      "function Squares:__getitem(i) return i, i * i end "
                      "local Fewer = Squares:extend() "
                      "function Fewer:__len() return 3 end "
                      "return #Squares(5) .. ' ' .. drawn(data.DataLoader(Squares(5), "
                      "{batch_size = 2})) .. ' ' .. drawn(data.DataLoader(Fewer(5)))")),
            "5 0,1 4,9 16 0 1 4");
}

TEST_F(DataLibrary, ShuffledOrderDependsOnTheGeneratorAlone) {
  const std::string twice = text(
      with("local function order(seed) return drawn(data.DataLoader(pairs_of, {batch_size = 10, "
           "shuffle = true, generator = ohm.Generator():manual_seed(seed)})) end "
           "return order(1) .. ' ' .. order(1) .. ' ' .. order(2)"));
  const std::size_t length = twice.size() / 3;
  EXPECT_EQ(twice.substr(0, length), twice.substr(length + 1, length));
  EXPECT_NE(twice.substr(0, length), twice.substr(2 * (length + 1)));
  EXPECT_NE(twice.substr(0, length), "0,1,2,3,4,5,6,7,8,9");
}

TEST_F(DataLibrary, ShuffledEpochsDifferAndVisitEverything) {
  EXPECT_EQ(
      text(with("local l = data.DataLoader(pairs_of, {batch_size = 10, shuffle = true}) "
                "local a, b = drawn(l), drawn(l) local seen = {} "
                "for n in a:gmatch('%d+') do seen[#seen + 1] = tonumber(n) end "
                "table.sort(seen) return tostring(a == b) .. ' ' .. table.concat(seen, ',')")),
      "false 0,1,2,3,4,5,6,7,8,9");
}

TEST_F(DataLibrary, CollateFunctionsGetTheListOfItems) {
  EXPECT_EQ(text(with("local l = data.DataLoader(pairs_of, {batch_size = 5, "
                      "collate_fn = function(items) return #items, items[2][2]:item() end}) "
                      "local out = {} for n, second in l do out[#out + 1] = n .. ':' .. second end "
                      "return table.concat(out, ' ')")),
            "5:1 5:6");
}

TEST_F(DataLibrary, ATableThatHoldsItselfIsNotCollated) {
  EXPECT_EQ(
      text(with("local t = {} t[1] = t "
                "local ok, why = pcall(data.default_collate, t) "
                "return tostring(ok) .. (tostring(why):find('does one contain itself', 1, true) "
                "and ' deep' or tostring(why))")),
      "false deep");
}

TEST_F(DataLibrary, EnumerateCountsFromZero) {
  EXPECT_EQ(text(with("local out = {} "
                      "for i, a, b in data.DataLoader(pairs_of, {batch_size = 5}):enumerate() do "
                      "out[#out + 1] = i .. ':' .. b:sum():item() end "
                      "return table.concat(out, ' ')")),
            "0:10 1:35");
}

TEST_F(DataLibrary, LoopsOverOneLoaderDoNotMeet) {
  EXPECT_EQ(text(with("local l = data.DataLoader(pairs_of, {batch_size = 5}) local out = {} "
                      "for _, a in l do for _, b in l do "
                      "out[#out + 1] = a:sum():item() .. '/' .. b:sum():item() end end "
                      "return table.concat(out, ' ')")),
            "10/10 10/35 35/10 35/35");
}

// 1,024 floats an item, 4 items a batch: 16,384 bytes.
constexpr const char* kFloats =
    "local set = ohm.utils.data.Dataset{__len = function() return 40 end, "
    "__getitem = function(_, i) return ohm.zeros(1024) end} "
    "local function peak(options, visit) options.batch_size = 4 "
    "local l = ohm.utils.data.DataLoader(set, options) local count = 0 "
    "for b in l do count = count + 1 visit(count) if count == 5 then break end end end ";

TEST_F(DataLibrary, WithoutWorkersItemsAndTheOldBatchLiveWhileTheNextIsMade) {
  run(std::string(kFloats) + "peak({}, function() end) return 1");
  // One batch, four items, and the batch that is stacked from them.
  EXPECT_EQ(host_peak(), 16'384 + 16'384 + 16'384);
}

TEST_F(DataLibrary, WorkersHoldTheirPrefetchedBatches) {
  run(std::string(kFloats) +
      "peak({num_workers = 2, prefetch_factor = 3}, function() end) "
      "return 1");
  // Six fetched ahead and the one in use, the batch before that; four items and nothing else.
  EXPECT_EQ(host_peak(), 7 * 16'384 + 16'384 + 16'384);
}

TEST_F(DataLibrary, LeavingALoopLetsGoOfWhatWasFetched) {
  run(std::string(kFloats) +
      "local function train() peak({num_workers = 2}, function() end) end train() "
      "return ohm.gc.collect()");
  EXPECT_EQ(host_bytes(), 0);
}

TEST_F(DataLibrary, RefusesWhatPyTorchRefuses) {
  EXPECT_THAT(error_of(with("data.DataLoader(pairs_of, {prefetch_factor = 2})")),
              HasSubstr("prefetch_factor needs num_workers > 0"));
  EXPECT_THAT(
      error_of(with("data.DataLoader(pairs_of, {num_workers = 4, prefetch_factor = 1 << 61})")),
      HasSubstr("can be at most 1048576"));
  EXPECT_THAT(error_of(with("data.DataLoader(pairs_of, {batchsize = 2})")),
              HasSubstr("has no argument 'batchsize' (did you mean \"batch_size\"?)"));
  EXPECT_THAT(error_of(with("data.DataLoader(7)")), HasSubstr("must be a data set"));
  EXPECT_THAT(error_of(with("for b in data.DataLoader(x:cuda(), {num_workers = 1}) do end")),
              HasSubstr("a worker process cannot use the GPU"));
  EXPECT_THAT(error_of(with("return pairs_of[10]")),
              HasSubstr("index 10 is out of range: the data set has 10 items, counted from 0"));
}

}  // namespace
}  // namespace ohm::test
