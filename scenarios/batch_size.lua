-- Symptom: "a batch of 512 trains, a batch of 1,024 is out of memory."
--
-- The peak is a straight line in the batch: parameters, gradients and optimizer state are the fixed
-- part, activations cost the same for each sample. What to do: halve the batch until it fits, or
-- fit the line: two measurements give slope and intercept. `ohm run --set batch=64` tries one.
--
-- Chapter: basics
-- PyTorch:
--     loader = DataLoader(dataset, batch_size=batch // 2)

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

local params = ohm.params {
  batch = {default = 1024, min = 4, summary = "samples in the batch that is too large"},
}

-- The peak is where backward has come to the last block. For each sample: its 128 features, 8
-- results of ReLU, two gradients as wide, and a label.
local DEPTH, WIDTH = 8, 128
local PER_SAMPLE = 4 * (WIDTH + DEPTH * WIDTH + 2 * WIDTH) + 8
-- Beside them the parameters, the gradients of the head, the loss, and the root of backward.
local FIXED = nets.deep_bytes(DEPTH, WIDTH) + bytes.linear(WIDTH, 10) + 2 * bytes.scalar
local function card_for(samples) return FIXED + samples * PER_SAMPLE end

local function step(net, device, batch)
  local x, y = nets.batch(batch, WIDTH, device)
  net:zero_grad()
  local loss = F.cross_entropy(net(x), y)
  loss:backward()
  return loss:item()
end

-- As many samples in any case, `batch` of them at once.
local function train(device, batch)
  local net, loss, seen = nets.deep(DEPTH, WIDTH, device), nil, 0
  while seen < params.batch do
    local rows = math.min(batch, params.batch - seen)
    loss = step(net, device, rows)
    ohm.step()
    seen = seen + rows
  end
  return {loss = loss, samples_seen = seen}
end

-- Halves until a step is not out of memory.
local function halve_until_it_fits(device)
  local net, batch = nets.deep(DEPTH, WIDTH, device), params.batch
  while not pcall(step, net, device, batch) do batch = batch // 2 end
  return {batch = batch}
end

-- Two peaks, and the line through them.
local function line(device)
  local net = nets.deep(DEPTH, WIDTH, device)
  local function peak(batch)
    ohm.cuda.reset_peak_memory_stats()
    step(net, device, batch)
    return ohm.cuda.max_memory_allocated()
  end
  -- The largest first: a later peak is not to be that of an earlier one.
  local largest, large, small = peak(512), peak(384), peak(256)
  local slope = (large - small) / 128
  return {bytes_per_sample = slope, fixed = small - 256 * slope,
          predicted_for_512 = card_for(512), measured_for_512 = largest}
end

local function smaller(batch)
  return {
    trades = "the size of the batch", must_agree = {"samples_seen", "finite"},
    run = function(d) return train(d, batch) end,
  }
end

return ohm.scenario {
  name = "batch_size",
  summary = "The peak is a line in the batch: a fixed part, and a cost per sample",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", card_for(512))},

  problems = {too_large = function(d) return train(d, params.batch) end},
  mitigations = {
    half = smaller(params.batch // 2),
    quarter = smaller(params.batch // 4),
  },
  partials = {three_quarters = smaller(params.batch * 3 // 4)},
  checks = {
    -- A card of 4 MiB: 1,024 samples take 6 of them.
    halved_until_it_fits = {
      gpu = {capacity = "4 MiB"}, returns = {batch = 512}, run = halve_until_it_fits,
    },
    peak_is_a_line = {
      returns = {
        bytes_per_sample = PER_SAMPLE, fixed = FIXED,
        predicted_for_512 = card_for(512), measured_for_512 = card_for(512),
      },
      run = line,
    },
  },
}
