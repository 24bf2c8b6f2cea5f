-- Symptom: "I call empty_cache() in every iteration to save memory, and training got slow."
--
-- empty_cache() gives back what PyTorch has cached and does not use. The next step asks for it
-- again: the peak is the same, but every step waits for cudaMalloc and cudaFree instead of taking
-- blocks from the cache. What to do: leave the cache alone; it is what makes allocation fast. Count
-- num_device_alloc in memory_stats(): it should stand still after the first step.
--
-- Chapter: cache
-- PyTorch:
--     for x, y in loader:
--         train_step(x, y)    # no torch.cuda.empty_cache() here

local nets = require("nets")
local nn, F = ohm.nn, ohm.nn.functional

local STEPS = 10

-- 1,024 rows of 3,072 numbers are 12 MiB: results and gradients of that size get segments of their
-- own, which are free, and cached, at the end of a step.
local function train(device, advice, steps)
  ohm.manual_seed(1)
  local net = nn.Sequential(nn.Linear(8, 3072), nn.ReLU(), nn.Linear(3072, 4)):to(device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 1e-3})
  local x, y = nets.batch(1024, 8, device, 4)
  local loss
  for _ = 1, steps or STEPS do
    optimizer:zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss:backward()
    optimizer:step()
    advice()
    ohm.step()
  end
  return {loss = loss}
end

local function nothing() end
local function empty_cache_twice()
  ohm.cuda.empty_cache()
  ohm.cuda.empty_cache()
end
local function collect_and_empty_cache()
  ohm.gc.collect()
  ohm.cuda.empty_cache()
end

return ohm.scenario {
  name = "empty_cache_every_step",
  summary = "Emptying the cache every step saves nothing and allocates segments over and over",
  gpu = {profile = "tiny-64m", values = true},
  -- Ten steps ask the device for no more segments than the first one did.
  limits = {"num_device_alloc <= one_step"},

  problems = {every_step = function(d) return train(d, ohm.cuda.empty_cache) end},
  mitigations = {
    -- The same peak: emptying the cache had saved nothing.
    leave_the_cache_alone = {
      limits = {"peak_allocated_bytes == problem", "peak_reserved_bytes == problem"},
      run = function(d) return train(d, nothing) end,
    },
  },
  non_fixes = {
    twice_in_a_row = function(d) return train(d, empty_cache_twice) end,
    with_collecting_garbage = function(d) return train(d, collect_and_empty_cache) end,
  },
  controls = {
    once_before_training = function(d)
      ohm.cuda.empty_cache()
      return train(d, nothing)
    end,
    -- Parameters and their gradients fit into 2 small segments; result, activation and gradient of
    -- 12 MiB have one each.
    one_step = {
      limits = {"num_device_alloc <= 5"}, run = function(d) return train(d, nothing, 1) end,
    },
  },
}
