-- Symptom: "cudnn.benchmark = True should have made it lean and fast; it runs out of memory in the
-- first step, or is slow in every one."
--
-- A guide says that the benchmark brings memory down. It tries convolution algorithms, and to try
-- them it allocates the largest of their workspaces: the first step's peak is above the steady
-- state's. Then it empties the cache, for every new shape: in every step if input sizes change.
-- What to do: limit the workspace, keep input sizes constant, or turn the benchmark off.
-- (Workspaces are modelled: lib/cudnn.lua says how.)
--
-- Chapter: cache
-- PyTorch:
--     torch.backends.cudnn.benchmark = False

local bytes = require("bytes")
local cudnn = require("cudnn")
local nn = ohm.nn

-- Two convolutions of 8 channels; 2 x 8 x 64 x 64 numbers are 256 KiB (A), unfolded 9 times that.
local C, SIDE, SIZES = 8, 64, {64, 60, 56, 52, 48, 44}
local A = bytes.float32(2, C, SIDE, SIDE)
local P = 2 * (bytes.float32(C, C, 3, 3) + bytes.scalar)
-- The steady state, before the parameters have gradients: parameters; the batch, both results, and
-- two gradients; the mean and the root of backward.
local STEADY = P + (1 + 2 + 2) * A + 2 * bytes.scalar

local function new_net(device)
  ohm.manual_seed(1)
  return nn.Sequential(cudnn.Conv2d(C, C, 3, {padding = 1}), nn.ReLU(),
                       cudnn.Conv2d(C, C, 3, {padding = 1}), nn.ReLU()):to(device)
end

local function images(side, device)
  ohm.manual_seed(2)
  return ohm.randn(2, C, side, side, {device = device})
end

local function train(device, settings, side_of)
  for name, value in pairs(settings) do cudnn[name] = value end
  local net, seen = new_net(device), 0
  for step = 1, #SIZES do
    net:zero_grad()
    local x = images(side_of and side_of(step) or SIDE, device)
    net(x):mean():backward()
    seen = seen + x:size(0)
    ohm.step()
  end
  return {samples_seen = seen, gradient = net[1].conv.weight.grad * 1000}
end

local function changing(step) return SIZES[step] end

local ON, OFF = {benchmark = true}, {benchmark = false}
local LIMITED = {benchmark = true, workspace_limit = 2 * A}

-- The peaks of the first step and of the second.
local function peaks(device)
  cudnn.benchmark = true
  local net, x, found = new_net(device), images(SIDE, device), {}
  for step = 1, 2 do
    net:zero_grad()
    ohm.cuda.reset_peak_memory_stats()
    net(x):mean():backward()
    found[step] = ohm.cuda.max_memory_allocated()
  end
  return {workspace_in_the_first = found[1] >= 9 * A, in_the_second = found[2]}
end

return ohm.scenario {
  name = "cudnn_benchmark",
  summary = "Trying convolution algorithms takes their workspaces, and empties the cache",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    first_step = {
      limits = {bytes.at_most("peak_allocated_bytes", STEADY)},
      run = function(d) return train(d, ON) end,
    },
    changing_sizes = {
      -- A size that stays is tried once by each convolution: a segment for either workspace, and
      -- one for all tensors.
      limits = {"num_device_alloc <= 2"}, run = function(d) return train(d, ON, changing) end,
    },
  },
  mitigations = {
    workspace_limit = {of = "first_step", run = function(d) return train(d, LIMITED) end},
    benchmark_off = {of = "first_step", run = function(d) return train(d, OFF) end},
    sizes_that_stay = {
      of = "changing_sizes", trades = "the sizes: images are padded to the largest",
      must_agree = {"samples_seen", "finite"},
      run = function(d) return train(d, ON) end,
    },
    benchmark_off_for_changing_sizes = {
      of = "changing_sizes", run = function(d) return train(d, OFF, changing) end,
    },
    limit_for_changing_sizes = {
      of = "changing_sizes", run = function(d) return train(d, LIMITED, changing) end,
    },
  },
  non_fixes = {
    -- The trial itself is over by then.
    empty_cache_before_training = {
      of = "first_step",
      run = function(d)
        ohm.cuda.empty_cache()
        return train(d, ON)
      end,
    },
  },
  checks = {
    only_the_first_step = {
      returns = {workspace_in_the_first = true, in_the_second = STEADY}, run = peaks,
    },
  },
}
