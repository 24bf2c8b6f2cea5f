-- Symptom: "CUDA out of memory, although much is 'reserved by PyTorch but unallocated'."
--
-- The allocator can split a free block. Its segment then cannot be returned while a piece is in
-- use, and the rest is too small for the next large request: free, reserved, and useless.
-- What to do: `max_split_size_mb`, so that large blocks are not split; `expandable_segments`, whose
-- free pages can be mapped elsewhere; allocate the largest or longest-lived tensors first.
-- empty_cache() only returns whole segments, and a garbage collection threshold frees what an OOM
-- would free anyway.
--
-- Chapter: cache
-- PyTorch:
--     PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py

local MIB = 1024 * 1024

-- A temporary of 60 MiB goes; 24 MiB that stay are put into its segment; 56 MiB are asked for. Of
-- the 84 MiB 60 are free: 36 beside what stays, 24 that were never reserved. In two pieces.
local TEMPORARY, LONG_LIVED, LARGE, CAPACITY = 60, 24, 56, "84 MiB"
local function on_card(settings)
  return {profile = "tiny-64m", capacity = CAPACITY, values = true, alloc_conf = settings}
end

local function allocate(device, mebibytes)
  return ohm.empty(mebibytes * MIB, {dtype = "uint8", device = device})
end

local function elements(a, b) return {elements = a:numel() + b:numel()} end

local function temporary_first(device, before_the_large_one)
  local temporary = allocate(device, TEMPORARY)
  temporary = nil -- luacheck: ignore
  local long_lived = allocate(device, LONG_LIVED)
  if before_the_large_one then before_the_large_one() end
  return elements(long_lived, allocate(device, LARGE))
end

local function largest_first(device)
  local temporary = allocate(device, TEMPORARY)
  temporary = nil -- luacheck: ignore
  local large = allocate(device, LARGE)
  return elements(allocate(device, LONG_LIVED), large)
end

local function long_lived_first(device)
  local long_lived = allocate(device, LONG_LIVED)
  local temporary = allocate(device, TEMPORARY)
  temporary = nil -- luacheck: ignore
  return elements(long_lived, allocate(device, LARGE))
end

-- Nothing of the temporary's segment is in use: it is given back, and the request served.
local function whole_segment(device)
  local temporary = allocate(device, TEMPORARY)
  temporary = nil -- luacheck: ignore
  return elements(allocate(device, 70), ohm.empty(0, {device = device}))
end

local function with_settings(settings)
  return {gpu = on_card(settings), run = temporary_first}
end

return ohm.scenario {
  name = "fragmentation",
  summary = "Free memory in pieces: out of memory with 60 of 84 MiB free",
  gpu = on_card(),
  limits = {"num_ooms == 0"},

  problems = {temporary_first = function(d) return temporary_first(d) end},
  mitigations = {
    max_split_size = with_settings("max_split_size_mb:21"),
    expandable_segments = with_settings("expandable_segments:True"),
    largest_first = largest_first,
    long_lived_first = long_lived_first,
  },
  non_fixes = {
    empty_cache = function(d) return temporary_first(d, ohm.cuda.empty_cache) end,
    garbage_collection_threshold = with_settings("garbage_collection_threshold:0.6"),
    threshold_and_fraction = {
      gpu = on_card("garbage_collection_threshold:0.6"),
      run = function(d)
        ohm.cuda.set_per_process_memory_fraction(1.0)
        return temporary_first(d)
      end,
    },
  },
  controls = {
    free_in_a_whole_segment = {limits = {"num_alloc_retries == 1"}, run = whole_segment},
  },
  checks = {
    free_bytes_at_the_error = {
      returns = {fits = false, free = 60 * MIB, asked = LARGE * MIB},
      run = function(d)
        local fits, err = pcall(temporary_first, d)
        local free = err.capacity_bytes - err.allocated_bytes
        return {fits = fits, free = free, asked = err.requested_bytes}
      end,
    },
  },
}
