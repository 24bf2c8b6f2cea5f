-- Symptom: "I deleted everything, and nvidia-smi still shows four gigabytes; the other notebook on
-- the same card is out of memory."
--
-- PyTorch keeps freed memory in its cache, and a cache belongs to one process: another one on the
-- card cannot have it. What to do: empty_cache() once the tensors are gone, or end the process.
-- Deleting tensors alone, or collecting garbage, only moves memory into the cache.
--
-- Chapter: cache
-- PyTorch:
--     del tensors
--     torch.cuda.empty_cache()    # for the other process

local empty_cache = ohm.cuda.empty_cache

-- Ten tensors of 10,000,000 x 10 float32 numbers on a card of 11,441 MiB. Each is 400,000,000 bytes
-- in a segment of 191 * 2 MiB, which is not split: 3,820 MiB, 33.4 % of the card, beside contexts
-- of 450 MiB. The guide prints 5 %, 30 %, 30 % and 5 %; measured: 4, 37, 37 and 4, ten such
-- tensors are more than 30 %.
local TENSORS, SEGMENT = 10, 191 * 2 * 1024 * 1024

local function allocate(count, device)
  local tensors = {}
  for i = 1, count do tensors[i] = ohm.zeros(10000000, 10, {device = device}) end
  return tensors
end

-- The other notebook: 21 tensors, 8,022 MiB, and its context.
local function second_process(device) return #allocate(21, device) end

-- `release(names)` is what the first notebook does before the second one starts.
local function first_process(device, release)
  local names = {tensors = allocate(TENSORS, device)}
  local first = #names.tensors
  release(names)
  return {first = first, second = ohm.process(second_process),
          held = names.tensors and #names.tensors or 0}
end

local function del(names) names.tensors = nil end
local function del_one_by_one(names)
  for i = 1, #names.tensors do names.tensors[i] = nil end
end
local function del_and(advice)
  return function(names)
    names.tensors = nil
    advice()
  end
end
local function empty_cache_then_del(names)
  empty_cache()
  names.tensors = nil
end

-- GPUtil's column of memory, in per cent.
local function utilisation()
  return tonumber(ohm.show_utilization():match("|%s+0 |%s+%d+%% |%s+(%d+)%% |"))
end

return ohm.scenario {
  name = "cached_memory_two_processes",
  summary = "Freed memory stays in a process's cache, out of reach of another process",
  gpu = {profile = "k80-12g", values = false},
  limits = {"num_ooms == 0"},

  problems = {
    freed_but_cached = function(d) return first_process(d, del) end,
  },
  mitigations = {
    empty_cache = function(d) return first_process(d, del_and(empty_cache)) end,
    the_process_ends = function()
      local first = ohm.process(function(d) return #allocate(TENSORS, d) end)
      return {first = first, second = ohm.process(second_process), held = 0}
    end,
  },
  non_fixes = {
    releasing_each_tensor = function(d) return first_process(d, del_one_by_one) end,
    collecting_garbage = function(d) return first_process(d, del_and(ohm.gc.collect)) end,
    -- When it was emptied, the tensors were still there: deleted, they are in it again.
    empty_cache_before_del = function(d) return first_process(d, empty_cache_then_del) end,
  },
  checks = {
    what_gputil_shows = {
      returns = {before = 4, with_tensors = 37, released = 37, emptied = 4},
      run = function(d)
        local shown = {before = utilisation()}
        local tensors = allocate(TENSORS, d)
        shown.with_tensors = utilisation()
        tensors = nil -- luacheck: ignore
        shown.released = utilisation()
        empty_cache()
        shown.emptied = utilisation()
        return shown
      end,
    },
    what_pytorch_counts = {
      returns = {allocated = 0, reserved = TENSORS * SEGMENT},
      run = function(d)
        local tensors = allocate(TENSORS, d)
        tensors = nil -- luacheck: ignore
        return {allocated = ohm.cuda.memory_allocated(), reserved = ohm.cuda.memory_reserved()}
      end,
    },
  },
}
