-- Programs with and without seeded bugs: several GPUs, ranks, gathers. The line above each says the
-- verdict that a sweep has to come to, and the bug.

local p = require("programs")
local programs = {}

local function on(gpu, value) return ohm.full({16}, value, {device = "cuda:" .. gpu}) end

-- Two ranks; `step(rank, d)` returns what a rank comes to.
local function ranks(step)
  return function()
    local totals = {}
    ohm.distributed.spawn(2, function(rank) totals[rank + 1] = step(rank, "cuda:" .. rank) end)
    return {first = totals[1], second = totals[2]}
  end
end

-- swallowed: the part of the GPU that is full is missing from the gathered sum
programs.part_missing = function()
  local sum = 0
  for gpu = 0, 1 do
    p.try(function() sum = sum + (on(gpu, gpu + 1) * 2):sum():item() end)
  end
  return {sum = sum}
end

-- swallowed: the other GPU takes over, with its own part
programs.other_gpus_part = function()
  local sum = 0
  for gpu = 0, 1 do
    local ok = p.try(function() sum = sum + (on(gpu, gpu + 1) * 2):sum():item() end)
    if not ok then sum = sum + (on(1 - gpu, 2 - gpu) * 2):sum():item() end
  end
  return {sum = sum}
end

-- recovered_different: parts are gathered in the order in which they came through
programs.order_of_arrival = function()
  local parts, failed = {}, {}
  for gpu = 0, 1 do
    if not p.try(function() parts[#parts + 1] = (on(gpu, gpu + 1) * 2):cpu() end) then
      failed[#failed + 1] = gpu
    end
  end
  for _, gpu in ipairs(failed) do parts[#parts + 1] = (on(gpu, gpu + 1) * 2):cpu() end
  return {all = ohm.cat(parts)}
end

-- leak: what was gathered so far stays on the first GPU
do
  local gathered = {}
  programs.gathered_kept = function()
    gathered = {}
    for gpu = 0, 1 do gathered[gpu + 1] = on(gpu, 1):to("cuda:0") * 2 end
    gathered = {}
  end
end

-- corrupt: the GPU that is tried instead stays current
programs.other_gpu_stays = function()
  local sum
  if not p.try(function() sum = (on(0, 1) * 2):sum():item() end) then
    ohm.cuda.set_device("cuda:1")
    sum = (on(1, 1) * 2):sum():item()
  end
  return {sum = sum}
end

-- wrong_error: a rank that is out of memory does not come to the collective
programs.rank_stays_away = ranks(function(_, d)
  local x = ohm.ones(16, {device = d})
  if p.try(function() x = x * 2 end) then ohm.distributed.all_reduce(x) end
  return x:sum():item()
end)

-- swallowed: a rank brings what it had before
programs.rank_brings_less = ranks(function(rank, d)
  local x = ohm.ones(16, {device = d})
  p.try(function() x = x * (rank + 2) end)
  ohm.distributed.all_reduce(x)
  return x:sum():item()
end)

-- recovered_different: in its second try a rank adds its own part twice
programs.rank_adds_twice = ranks(function(rank, d)
  local x = ohm.ones(16, {device = d})
  local function part()
    x:add_(rank + 1)
    return (x * 2):sum():item()
  end
  local sum
  p.again(function() sum = part() end)
  return sum
end)

-- recovered_different: gradients of DataParallel are added up by both tries
programs.parallel_gradients_doubled = function()
  local net = p.net("cuda:0")
  local parallel = ohm.nn.DataParallel(net, {device_ids = {0, 1}})
  p.again(function()
    parallel(p.batch(1, "cuda:0")):sum():backward()
    return (net[1].weight.grad * 2):sum():item()
  end)
  return {grad = net[1].weight.grad:cpu()}
end

-- good: DataParallel again, from zero_grad on
programs.parallel_again = function()
  local net = p.net("cuda:0")
  local parallel = ohm.nn.DataParallel(net, {device_ids = {0, 1}})
  p.again(function()
    net:zero_grad()
    parallel(p.batch(1, "cuda:0")):sum():backward()
  end)
  return {grad = net[1].weight.grad:cpu()}
end

-- good: the other GPU takes over the same part
-- Wrong without values: the requests are another GPU's, and nothing says that they come to the same
programs.same_part_elsewhere = function()
  local sum = 0
  for gpu = 0, 1 do
    local ok = p.try(function() sum = sum + (on(gpu, gpu + 1) * 2):sum():item() end)
    if not ok then sum = sum + (on(1 - gpu, gpu + 1) * 2):sum():item() end
  end
  return {sum = sum}
end

-- good: a rank that fails ends its part with the error
programs.rank_raises = ranks(function(rank, d)
  local x = ohm.ones(16, {device = d}) * (rank + 2)
  ohm.distributed.all_reduce(x)
  return x:sum():item()
end)

return p.scenario("gpus", "Several GPUs after a failure", programs)
