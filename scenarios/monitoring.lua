-- Symptom: "what I printed after each step was a quarter of the card, and it was out of memory."
--
-- A tool that samples sees what is allocated at that moment. A peak lasts for a fraction of a step,
-- within backward, between two samples; and what nvidia-smi shows are contexts and segments, cached
-- ones included, not what a program uses. Sampling more often still misses it. What to do: ask the
-- allocator, which knows its peak: max_memory_allocated(), and reset_peak_memory_stats() before the
-- suspect lines.
--
-- Chapter: basics
-- PyTorch:
--     torch.cuda.reset_peak_memory_stats()
--     suspect()
--     print(torch.cuda.max_memory_allocated())

local nets = require("nets")
local F = ohm.nn.functional
local cuda = ohm.cuda

-- Between two lines of a step the peak is: 512 samples through 8 blocks of width 128.
local DEPTH, WIDTH, BATCH = 8, 128, 512

-- `look` is called where a tool may happen to look: "step" at the end of each step, also "forward",
-- and "backward" when it is done.
local function train(device, look)
  local net = nets.deep(DEPTH, WIDTH, device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = nets.batch(BATCH, WIDTH, device)
  local change, looks = nets.change_of(net[#net].weight), 0
  local function pass(place)
    looks = looks + 1
    look(place)
  end
  for _ = 1, 3 do
    pass("start")
    local loss = F.cross_entropy(net(x), y)
    pass("forward")
    loss:backward()
    pass("backward")
    optimizer:step()
    optimizer:zero_grad()
    loss = nil -- luacheck: ignore
    pass("step")
    ohm.step()
  end
  return {places = looks, change = change()}
end

-- The largest that was seen at one of these places.
local function polled(places, figure)
  return function(device)
    local seen = 0
    local trained = train(device, function(place)
      if places[place] then seen = math.max(seen, figure()) end
    end)
    trained.peak = seen
    return trained
  end
end

-- In MiB, as it is printed.
local function memory_used()
  local text = ohm.smi {query_gpu = "memory.used", format = "csv,noheader,nounits"}
  return tonumber(text) * 1024 * 1024
end

local function allocators_peak(device)
  local trained = train(device, function() end)
  trained.peak = cuda.max_memory_allocated()
  return trained
end

-- Reset before, read after each part: the suspect line is the part with the largest.
local function peaks_of_parts(device)
  local peaks = {}
  local trained = train(device, function(place)
    peaks[place] = math.max(peaks[place] or 0, cuda.max_memory_allocated())
    cuda.reset_peak_memory_stats()
  end)
  return peaks, trained
end
local function around_suspect_lines(device)
  local peaks, trained = peaks_of_parts(device)
  trained.peak = 0
  for _, peak in pairs(peaks) do trained.peak = math.max(trained.peak, peak) end
  return trained
end

return ohm.scenario {
  name = "monitoring",
  summary = "A look now and then misses the peak; the allocator knows it",
  gpu = {profile = "tiny-64m", values = true},
  reference = "true_peak",
  limits = {"error_vs_reference == 0"},

  problems = {
    nvidia_smi_each_step = polled({step = true}, memory_used),
    memory_allocated_each_step = polled({step = true}, cuda.memory_allocated),
  },
  mitigations = {
    max_memory_allocated = {of = "memory_allocated_each_step", run = allocators_peak},
    reset_and_read_around_lines = {of = "memory_allocated_each_step", run = around_suspect_lines},
    instead_of_nvidia_smi = {of = "nvidia_smi_each_step", run = allocators_peak},
  },
  non_fixes = {
    poll_after_every_line = {
      of = "memory_allocated_each_step",
      run = polled({start = true, forward = true, backward = true, step = true},
                   cuda.memory_allocated),
    },
    nvidia_smi_after_every_line = {
      of = "nvidia_smi_each_step",
      run = polled({start = true, forward = true, backward = true, step = true}, memory_used),
    },
  },
  checks = {
    backward_is_the_suspect = {
      returns = {above_forward = true, above_step = true},
      run = function(d)
        local peaks = peaks_of_parts(d)
        return {above_forward = peaks.backward > peaks.forward,
                above_step = peaks.backward > peaks.step}
      end,
    },
    every_tool_agrees_with_the_counters = {
      gpu = {profile = "k80-12g", values = true},
      returns = {allocated = 4 * 1048576, reserved = 20 * 1048576, free_and_total = true,
                 smi = 470, table_row = true, gputil = 4, summary = true, stats = true},
      run = function(d)
        local tensor = ohm.zeros(1024, 1024, {device = d})
        local allocated, reserved = cuda.memory_allocated(), cuda.memory_reserved()
        local free, total = cuda.mem_get_info()
        local stats = cuda.memory_stats()
        local used = (total - free) // 1048576 -- the context of 450 MiB and the segment
        return {
          allocated = allocated, reserved = reserved, free_and_total = used == 450 + 20,
          smi = memory_used() // 1048576,
          table_row = ohm.smi():find(("%dMiB / 11441MiB"):format(used), 1, true) ~= nil,
          gputil = tonumber(ohm.show_utilization():match("(%d+)%% |\n$")),
          summary = cuda.memory_summary():find("4096 KiB", 1, true) ~= nil,
          stats = stats["allocated_bytes.all.peak"] == cuda.max_memory_allocated()
            and stats["reserved_bytes.all.current"] == reserved and tensor:numel() == 1024 ^ 2,
        }
      end,
    },
  },
  references = {true_peak = allocators_peak},
}
