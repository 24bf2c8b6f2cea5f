-- Symptom: "GPU 0 is full and raises CUDA out of memory, while the other GPUs are nearly empty."
--
-- DataParallel gathers every replica's output on GPU 0 and the loss is computed there, over the
-- whole batch: outputs, log-probabilities and both of their gradients. What to do: compute the loss
-- where the outputs are (inside forward, or in a parallel loss layer), so that only scalars are
-- gathered; or use DistributedDataParallel, where every rank has its own loss.
--
-- Chapter: gpus
-- PyTorch:
--     class WithLoss(nn.Module):    # the loss where the outputs are
--         def forward(self, x, y): return loss_fn(self.model(x), y)
--     loss = nn.DataParallel(WithLoss(model))(x, y).mean()
-- Keras: with tf.distribute.MirroredStrategy().scope(): build and compile the model. Every replica
--   computes its own loss.

local nn, F = ohm.nn, ohm.nn.functional

local FEATURES = 32

-- Outputs that are large against the parameters: 256 rows of 20,000 classes are 20.5 MB, the
-- parameters 1.4 MB. The floor of the imbalance is 1: nothing but scalars has to meet.
local function wide_net()
  return nn.Sequential(nn.Linear(FEATURES, 16), nn.ReLU(), nn.Linear(16, 20000)), 20000, 256
end

-- Parameters that are large against all else: P = 4.4 MB. GPU 0 holds them, the gradients of its
-- replica and the reduced gradients, about 3 P; the others hold their replica and its gradients.
local function deep_net()
  return nn.Sequential(nn.Linear(FEATURES, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                       nn.Linear(1024, 10)), 10, 32
end

-- The same parameters and the same batch in every variant, on the host.
local function new_net(build)
  ohm.manual_seed(1)
  return build()
end

local function new_batch(classes, batch)
  ohm.manual_seed(2)
  return ohm.randn(batch, FEATURES), ohm.randint(classes, {batch})
end

-- A module that returns its loss: DataParallel then gathers one number for each GPU.
local function with_loss(net)
  return nn.Module {
    net = net,
    forward = function(self, x, y) return F.cross_entropy(self.net(x), y) end,
  }
end

-- Two training steps; `loss_of(x, y)` is the loss of the whole batch.
local function train(net, classes, batch, loss_of)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})
  local x, y = new_batch(classes, batch)
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

local function gathered_outputs(build, options)
  local net, classes, batch = new_net(build)
  net = net:cuda(0)
  local parallel = nn.DataParallel(net, options)
  return train(net, classes, batch, function(x, y)
    local out = parallel(x)
    return F.cross_entropy(out, y:to(out.device))
  end)
end

local function loss_in_forward(build)
  local net, classes, batch = new_net(build)
  net = net:cuda(0)
  local parallel = nn.DataParallel(with_loss(net))
  return train(net, classes, batch, function(x, y) return parallel(x, y):mean() end)
end

local function parallel_loss(build)
  local net, classes, batch = new_net(build)
  net = net:cuda(0)
  local model = nn.DataParallel(net, {gather = false}) -- outputs stay where they are
  local criterion = nn.DataParallelCriterion(nn.CrossEntropyLoss())
  return train(net, classes, batch, function(x, y) return criterion(model(x), y) end)
end

-- One rank for each GPU, each with its quarter of the batch.
local function distributed(build)
  local losses = ohm.distributed.spawn(4, function(rank, world_size)
    local net, classes, batch = new_net(build)
    net = net:cuda(rank)
    local parallel = nn.parallel.DistributedDataParallel(net)
    local rows = batch // world_size
    return train(net, classes, batch, function(x, y)
      return F.cross_entropy(parallel(x:narrow(0, rank * rows, rows):cuda(rank)),
                             y:narrow(0, rank * rows, rows):cuda(rank))
    end).loss
  end)
  local sum = 0
  for _, of_rank in ipairs(losses) do sum = sum + of_rank[1] end
  return {loss = sum / #losses}
end

return ohm.scenario {
  name = "unbalanced_data_parallel",
  summary = "DataParallel gathers outputs on GPU 0, which runs out of memory first",
  gpu = {profile = "tiny-64m", count = 4, values = true},
  limits = {"num_ooms == 0", "imbalance <= 1.001"},

  problems = {
    outputs_gathered = function() return gathered_outputs(wide_net) end,
    parameters_dominate = function() return gathered_outputs(deep_net) end,
  },
  mitigations = {
    loss_in_forward = {
      of = "outputs_gathered",
      run = function() return loss_in_forward(wide_net) end,
    },
    parallel_loss = {
      of = "outputs_gathered",
      run = function() return parallel_loss(wide_net) end,
    },
    distributed = {
      of = "outputs_gathered",
      run = function() return distributed(wide_net) end,
    },
    distributed_parameters = {
      of = "parameters_dominate",
      run = function() return distributed(deep_net) end,
    },
  },
  non_fixes = {
    -- Moves the hot GPU.
    other_output_device = {
      of = "outputs_gathered",
      run = function() return gathered_outputs(wide_net, {output_device = 1}) end,
    },
    -- GPU 0's peak stays: it holds the whole batch's outputs, however many GPUs made them.
    more_gpus = {
      of = "outputs_gathered",
      gpu = {profile = "tiny-64m", count = 8, values = true},
      run = function() return gathered_outputs(wide_net) end,
    },
    -- The outputs were not the imbalance.
    loss_in_forward_of_parameters = {
      of = "parameters_dominate",
      run = function() return loss_in_forward(deep_net) end,
    },
  },
  checks = {
    module_on_another_gpu = {
      raises = "module must have its parameters and buffers on device cuda:0",
      run = function()
        return nn.DataParallel(nn.Linear(FEATURES, 10):cuda(1))(ohm.randn(8, FEATURES))
      end,
    },
  },
}
