-- Symptom: "the model is small, and the GPU is full before the first step."
--
-- The whole data set was moved to the GPU, or built there. What to do: a Dataset that loads an item
-- when it is asked for, a DataLoader that makes batches of them on the host, and one batch at a
-- time on the GPU; pinned host memory makes the copy fast. A DataLoader over a tensor that already
-- is on the GPU only cuts it into batches. A Dataset that is built as a whole first fills the host.
--
-- Chapter: leaks
-- PyTorch:
--     for x, y in DataLoader(dataset, batch_size=32, pin_memory=True):
--         x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional
local data = ohm.utils.data

-- 2,048 samples of 512 features: 4 MiB. A batch of 64 is 128 KiB.
local SAMPLES, FEATURES, BATCH = 2048, 512, 64
local NET = 2 * bytes.linear(FEATURES, 10)
-- Net and gradients; the batch whose turn it is; the gradient of the log-probabilities; the loss
-- and the root of backward.
local ROOM = NET + bytes.float32(BATCH, FEATURES) + bytes.float32(BATCH, 10) + 2 * bytes.scalar

-- On the host: the items of a batch, the batch that they are made into, and the one before it that
-- still has its names; with their labels.
local HOST_ROOM = 3 * bytes.float32(BATCH, FEATURES) + 2 * bytes.int64(BATCH)

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

-- A file that holds one item.
local function read(i)
  ohm.manual_seed(3 + i)
  return ohm.randn(FEATURES), i % 10
end
local function items(get)
  return data.Dataset {
    __len = function() return SAMPLES end,
    __getitem = function(_, i) return get(i) end,
  }
end
local function built_first()
  local all = {}
  for i = 0, SAMPLES - 1 do all[i] = read(i) end
  return function(i) return all[i], i % 10 end
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

local function on_the_gpu(new_batches)
  return {of = "everything_on_the_gpu", run = function(d) return train(d, new_batches(d)) end}
end

return ohm.scenario {
  name = "greedy_data_loading",
  summary = "The whole data set on the GPU, where one batch at a time would do",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {
    everything_on_the_gpu = function(d) return train(d, slices(whole_set(d))) end,
    everything_built_first = {
      limits = {bytes.at_most("peak_host_bytes", HOST_ROOM)},
      run = function(d) return train(d, loader(items(built_first()))) end,
    },
  },
  mitigations = {
    dataset_on_demand = on_the_gpu(function() return loader(on_demand()) end),
    tensors_on_the_host = on_the_gpu(function()
      return loader(data.TensorDataset(whole_set("cpu")))
    end),
    slices_on_the_host = on_the_gpu(function() return slices(whole_set("cpu")) end),
    workers = on_the_gpu(function() return loader(on_demand(), {num_workers = 2}) end),
    pinned_batches = {
      of = "everything_on_the_gpu", limits = {"pinned_host_bytes > 0"},
      run = function(d) return train(d, loader(on_demand(), {pin_memory = true})) end,
    },
    read_when_asked_for = {
      of = "everything_built_first", run = function(d) return train(d, loader(items(read))) end,
    },
  },
  non_fixes = {
    loader_over_gpu_tensors = on_the_gpu(function(d)
      return loader(data.TensorDataset(whole_set(d)))
    end),
    empty_cache = on_the_gpu(function(d)
      local dataset = data.TensorDataset(whole_set(d))
      ohm.cuda.empty_cache()
      return loader(dataset)
    end),
    pinned_batches_of_what_was_built = {
      of = "everything_built_first",
      run = function(d) return train(d, loader(items(built_first()), {pin_memory = true})) end,
    },
  },
}
