-- Symptom: "four GPUs with DistributedDataParallel, and each of them holds all of Adam's state."
--
-- Every rank keeps the same parameters, gradients and optimizer state: with Psi parameters trained
-- in mixed precision 16 Psi bytes on each of N ranks. Sharding gives each rank a part: of the state
-- (ZeRO-1: 4 Psi + 12 Psi / N), of the gradients too (ZeRO-2: 2 Psi + 14 Psi / N), of the
-- parameters too (ZeRO-3, FSDP: 16 Psi / N and the layers in flight). What to do: shard the state
-- first, it is the largest part and costs no traffic. More ranks without sharding save nothing.
--
-- Chapter: parameters
-- PyTorch:
--     optimizer = torch.distributed.optim.ZeroRedundancyOptimizer(
--         model.parameters(), optimizer_class=torch.optim.Adam)

local bytes, nets = require("bytes"), require("nets")
local F, distributed = ohm.nn.functional, ohm.distributed

-- 8 layers of width 256, 257 KiB each, and a head; four ranks, and 16 samples for each of them.
local RANKS, DEPTH, WIDTH, ROWS = 4, 8, 256, 16
local P = nets.deep_bytes(DEPTH, WIDTH)
local LAYER, HEAD = bytes.linear(WIDTH, WIDTH), bytes.linear(WIDTH, 10)
-- In float32 parameters and gradients are 2 P, Adam's two states and its temporary 3 P. Rank 0 has
-- two of the eight layers and the head. The formulas, by layers:
local SHARE = 2 * LAYER + HEAD
local ZERO_1, ZERO_2, ZERO_3 = 2 * P + 3 * SHARE, P + 4 * SHARE, 5 * SHARE
-- What is there during the optimizer's step: the batch and the loss.
local BATCH = bytes.float32(ROWS, WIDTH) + bytes.int64(ROWS) + bytes.scalar

-- The rank that keeps the state of parameter i: two parameters a layer, layers in turn.
local function owner(i) return (i - 1) // 2 % RANKS end

local function average(gradient, world_size)
  distributed.all_reduce(gradient)
  gradient:div_(world_size)
end

-- A stage takes the net, on the host, and says how a rank computes with it, which parameters have
-- gradients here, which are mine to update, and what is done with gradients and updated parameters.
local function replicated(net, rank, world_size)
  net:to("cuda:" .. rank)
  local function reduce()
    for _, p in ipairs(net:parameters()) do average(p.grad, world_size) end
  end
  local all = net:parameters()
  return {forward = net, trained = all, mine = all, reduce = reduce}
end

local function zero_1(net, rank, world_size)
  local stage = replicated(net, rank, world_size)
  stage.mine = {}
  for i, p in ipairs(net:parameters()) do
    if owner(i) == rank then stage.mine[#stage.mine + 1] = p end
  end
  function stage.share()
    for i, p in ipairs(net:parameters()) do distributed.broadcast(p:detach(), owner(i)) end
  end
  return stage
end

-- As soon as a gradient is complete it is averaged, and its owner alone keeps it.
local function zero_2(net, rank, world_size)
  local stage = zero_1(net, rank, world_size)
  for i, p in ipairs(net:parameters()) do
    -- The hook is given the parameter: one that held it would be held by it.
    p:register_post_accumulate_grad_hook(function(done)
      average(done.grad, world_size)
      if owner(i) ~= rank then done.grad = nil end
    end)
  end
  stage.reduce = nil
  return stage
end

-- A rank has its own layers; others it gets when their turn comes, in forward and in backward.
local function zero_3(net, rank, world_size)
  local own_parameters, device = {}, "cuda:" .. rank
  local stage = {mine = own_parameters, trained = own_parameters}
  local function own(p)
    p = p:to(device):detach():requires_grad_(true)
    p:register_post_accumulate_grad_hook(function(done) average(done.grad, world_size) end)
    own_parameters[#own_parameters + 1] = p
    return p
  end
  local layers = {}
  for i = 1, DEPTH + 1 do
    local linear, from = net[2 * i - 1], owner(2 * i)
    layers[i] = {from = from, rows = linear.weight:size(0)}
    if from == rank then layers[i].parts = {own(linear.weight), own(linear.bias)} end
  end
  local function part_of(layer, k)
    local p = layer.parts and layer.parts[k]
    if not p then
      p = k == 1 and ohm.empty(layer.rows, WIDTH, {device = device})
        or ohm.empty(layer.rows, {device = device})
    end
    distributed.broadcast(p:detach(), layer.from)
    if layer.parts or not ohm.is_grad_enabled() then return p end
    p:requires_grad_(true):register_post_accumulate_grad_hook(function(done)
      average(done.grad, world_size)
      done.grad = nil
    end)
    return p
  end
  function stage.forward(x)
    x:requires_grad_(true) -- else the first checkpoint has nothing to do in backward
    for i, layer in ipairs(layers) do
      x = ohm.utils.checkpoint.checkpoint(function(h)
        h = F.linear(h, part_of(layer, 1), part_of(layer, 2))
        return i <= DEPTH and F.relu(h) or h
      end, x, {use_reentrant = true})
    end
    return x
  end
  return stage
end

local function train(ranks, new_stage)
  local gradient
  local losses = distributed.spawn(ranks, function(rank, world_size)
    local device = "cuda:" .. rank
    local stage = new_stage(nets.deep(DEPTH, WIDTH, "cpu"), rank, world_size)
    local optimizer = ohm.optim.Adam(stage.mine, {lr = 1e-3})
    local x, y = nets.batch(RANKS * ROWS, WIDTH, "cpu")
    local rows = RANKS * ROWS // world_size
    x, y = x:narrow(0, rank * rows, rows):to(device), y:narrow(0, rank * rows, rows):to(device)
    local loss
    for _ = 1, 3 do
      for _, p in ipairs(stage.trained) do p.grad = nil end
      loss = F.cross_entropy(stage.forward(x), y)
      loss:backward()
      if stage.reduce then stage.reduce() end
      optimizer:step()
      if stage.share then stage.share() end
      ohm.step()
    end
    -- Rank 0 has the head, and the head's bias is the last of what it updates.
    if rank == 0 then gradient = stage.mine[#stage.mine].grad:cpu() end
    return loss:item()
  end)
  local sum = 0
  for _, of_rank in ipairs(losses) do sum = sum + of_rank[1] end
  return {loss = sum / ranks, gradient = gradient}
end

-- Bytes of a rank by the formulas of the ZeRO paper, in units of Psi.
local function zero(stage, n)
  return ({16, 4 + 12 / n, 2 + 14 / n, 16 / n})[stage + 1]
end

local function on_rank_0(figure) return {bytes.exactly("peak_allocated_bytes[cuda:0]", figure)} end

return ohm.scenario {
  name = "sharded_optimizer",
  summary = "Each rank can keep a part of the optimizer's state instead of all of it",
  gpu = {profile = "tiny-64m", count = RANKS, values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ZERO_1 + BATCH)},

  problems = {replicated = function() return train(RANKS, replicated) end},
  mitigations = {
    zero_1 = function() return train(RANKS, zero_1) end,
    zero_2 = {
      limits = {bytes.at_most("peak_allocated_bytes", ZERO_2 + BATCH)},
      run = function() return train(RANKS, zero_2) end,
    },
    -- The last rank, in backward: its two layers with gradients and states, and a layer of another
    -- rank with its gradient; three results computed again, and four gradients of such.
    zero_3 = {
      limits = {bytes.at_most("peak_allocated_bytes",
                              2 * 4 * LAYER + 2 * LAYER + (3 + 4) * bytes.float32(ROWS, WIDTH)
                              + BATCH + bytes.scalar)},
      run = function() return train(RANKS, zero_3) end,
    },
  },
  -- Half of the ranks, or as many again: each keeps as much.
  non_fixes = {
    two_ranks = function() return train(2, replicated) end,
  },
  checks = {
    formulas_for_7b_on_64_gpus = { -- in GB of 10^9 bytes, rounded, for 7.5 billion parameters
      returns = {replicated = 120, zero_1 = 31, zero_2 = 17, zero_3 = 2},
      run = function()
        local function gigabytes(stage) return math.floor(7.5 * zero(stage, 64) + 0.5) end
        return {replicated = gigabytes(0), zero_1 = gigabytes(1), zero_2 = gigabytes(2),
                zero_3 = gigabytes(3)}
      end,
    },
    zero_1_beside_the_formula = {
      limits = on_rank_0(ZERO_1 + BATCH), run = function() return train(RANKS, zero_1) end,
    },
    zero_2_beside_the_formula = {
      limits = on_rank_0(ZERO_2 + BATCH), run = function() return train(RANKS, zero_2) end,
    },
    -- The checkpoints leave the batch's gradient.
    zero_3_beside_the_formula = {
      limits = on_rank_0(ZERO_3 + BATCH + bytes.float32(ROWS, WIDTH)),
      run = function() return train(RANKS, zero_3) end,
    },
  },
}
