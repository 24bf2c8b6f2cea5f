-- Symptom: "the model is small, and the GPU is full before the first step."
--
-- The whole data set was moved to the GPU, or built there. What to do: a Dataset that loads an item
-- when it is asked for, a DataLoader that makes batches of them on the host, and one batch at a
-- time on the GPU; pinned host memory makes the copy fast. A DataLoader over a tensor that already
-- is on the GPU only cuts it into batches.

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional
local data = ohm.utils.data

-- 2,048 samples of 512 features: 4 MiB. A batch of 64 is 128 KiB.
local SAMPLES, FEATURES, BATCH = 2048, 512, 64
local NET = 2 * bytes.linear(FEATURES, 10)
-- Net and gradients; the batch whose turn it is with its labels; of the loss log-probabilities, one
-- gradient, and a few scalars.
local ROOM = NET + bytes.float32(BATCH, FEATURES) + bytes.int64(BATCH)
  + 2 * bytes.float32(BATCH, 10) + 4 * bytes.scalar

local function whole_set(device)
  ohm.manual_seed(2)
  local x, y = ohm.randn(SAMPLES, FEATURES), ohm.randint(10, {SAMPLES})
  return x:to(device), y:to(device)
end

-- Loads an item when it is asked for; here from the host's memory, elsewhere from a disk.
local function on_demand()
  local x, y = whole_set("cpu")
  return data.Dataset {
    __len = function() return SAMPLES end,
    __getitem = function(_, i) return x:select(0, i), y:select(0, i) end,
  }
end

-- `batches` is an iterator: a DataLoader, or the loop of the problem.
local function train(device, batches)
  ohm.manual_seed(1)
  local net = nn.Linear(FEATURES, 10):to(device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local last
  for x, y in batches do
    optimizer:zero_grad()
    local loss = F.cross_entropy(net(x:to(device)), y:to(device))
    loss:backward()
    optimizer:step()
    last = loss:item()
    ohm.step()
  end
  return {loss = last}
end

local function loader(dataset, options)
  options = options or {}
  options.batch_size = BATCH
  return data.DataLoader(dataset, options)
end

-- Slices of what is there already.
local function slices(x, y)
  local first = -BATCH
  return function()
    first = first + BATCH
    if first < SAMPLES then return x:narrow(0, first, BATCH), y:narrow(0, first, BATCH) end
  end
end

return ohm.scenario {
  name = "greedy_data_loading",
  summary = "The whole data set on the GPU, where one batch at a time would do",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {everything_on_the_gpu = function(d) return train(d, slices(whole_set(d))) end},
  mitigations = {
    dataset_on_demand = function(d) return train(d, loader(on_demand())) end,
    tensors_on_the_host = function(d)
      return train(d, loader(data.TensorDataset(whole_set("cpu"))))
    end,
    slices_on_the_host = function(d) return train(d, slices(whole_set("cpu"))) end,
    workers = function(d) return train(d, loader(on_demand(), {num_workers = 2})) end,
  },
  non_fixes = {
    loader_over_gpu_tensors = function(d)
      return train(d, loader(data.TensorDataset(whole_set(d))))
    end,
    empty_cache = function(d)
      local dataset = data.TensorDataset(whole_set(d))
      ohm.cuda.empty_cache()
      return train(d, loader(dataset))
    end,
  },
}
