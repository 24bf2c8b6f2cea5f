-- Symptom: "GPU 0 is full and raises CUDA out of memory, while the other GPUs are nearly empty."
--
-- DataParallel gathers every replica's output on GPU 0 and the loss is computed there, over the
-- whole batch: outputs, log-probabilities and both of their gradients. What to do: compute the loss
-- where the outputs are (inside forward, or in a parallel loss layer), so that only scalars are
-- gathered; or use DistributedDataParallel, where every rank has its own loss.

local nn, F = ohm.nn, ohm.nn.functional

-- Outputs that are large against the parameters: 256 rows of 16,000 classes are 16.4 MB, the
-- parameters 64 KB + 1.1 MB.
local BATCH, FEATURES, HIDDEN, CLASSES = 256, 32, 16, 16000

local function new_net(hidden, classes)
  ohm.manual_seed(1)
  return nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, classes))
end

local function new_batch(classes)
  ohm.manual_seed(2)
  return ohm.randn(BATCH, FEATURES), ohm.randint(classes, {BATCH})
end

-- A module that returns its loss: DataParallel then gathers one number for each GPU.
local function with_loss(net)
  return nn.Module {
    net = net,
    forward = function(self, x, y) return F.cross_entropy(self.net(x), y) end,
  }
end

-- Two training steps; `loss_of(x, y)` is the loss of the whole batch.
local function train(net, classes, loss_of)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = new_batch(classes)
  local loss
  for _ = 1, 2 do
    optimizer:zero_grad()
    loss = loss_of(x, y)
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {loss = loss:item()}
end

local function gathered_outputs(hidden, classes, options)
  local net = new_net(hidden, classes):cuda(0)
  local parallel = nn.DataParallel(net, options)
  return train(net, classes, function(x, y)
    local out = parallel(x)
    return F.cross_entropy(out, y:to(out.device))
  end)
end

local function loss_in_forward(hidden, classes)
  local net = new_net(hidden, classes):cuda(0)
  local parallel = nn.DataParallel(with_loss(net))
  return train(net, classes, function(x, y) return parallel(x, y):mean() end)
end

local function parallel_loss(hidden, classes)
  local net = new_net(hidden, classes):cuda(0)
  local model = nn.parallel.DataParallelModel(net)
  local criterion = nn.parallel.DataParallelCriterion(nn.CrossEntropyLoss())
  return train(net, classes, function(x, y) return criterion(model(x), y) end)
end

-- One rank for each GPU, each with its quarter of the batch.
local function distributed(hidden, classes)
  local losses = ohm.distributed.spawn(4, function(rank, world_size)
    local net = new_net(hidden, classes):cuda(rank)
    local parallel = nn.parallel.DistributedDataParallel(net)
    local rows = BATCH // world_size
    return train(net, classes, function(x, y)
      return F.cross_entropy(parallel(x:narrow(0, rank * rows, rows):cuda(rank)),
                             y:narrow(0, rank * rows, rows):cuda(rank))
    end).loss
  end)
  local sum = 0
  for _, loss in ipairs(losses) do sum = sum + loss end
  return {loss = sum / #losses}
end

return ohm.scenario {
  name = "unbalanced_data_parallel",
  summary = "DataParallel gathers outputs on GPU 0, which runs out of memory first",
  gpu = {profile = "tiny-64m", count = 4, values = true},
  limits = {"num_ooms == 0", "imbalance <= 1.50"},

  problems = {
    outputs_gathered = function() return gathered_outputs(HIDDEN, CLASSES) end,
  },
  mitigations = {
    loss_in_forward = function() return loss_in_forward(HIDDEN, CLASSES) end,
    parallel_loss = function() return parallel_loss(HIDDEN, CLASSES) end,
    distributed_data_parallel = function() return distributed(HIDDEN, CLASSES) end,
  },
  non_fixes = {
    other_output_device = function()
      return gathered_outputs(HIDDEN, CLASSES, {output_device = 1})
    end,
    more_gpus = {
      gpu = {profile = "tiny-64m", count = 8, values = true},
      run = function() return gathered_outputs(HIDDEN, CLASSES) end,
    },
  },
  checks = {
    module_on_another_gpu = {
      raises = "module must have its parameters and buffers on device cuda:0",
      run = function() return nn.DataParallel(new_net(HIDDEN, 10):cuda(1))(ohm.randn(8, FEATURES)) end,
    },
  },
}
