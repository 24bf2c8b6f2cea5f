-- What the runtime does with a failure of its own requests: modules, backward, optimizers,
-- autocast, checkpoints, DataParallel and DistributedDataParallel. Models and optimizers outlive a
-- failed pass, and `next_step` takes another step with them; what an update has left incomplete is
-- thrown away.

local nn, F, optim = ohm.nn, ohm.nn.functional, ohm.optim

-- A variant that trains what `make` makes. `forward` returns the loss.
local function trained(make, forward)
  local parts
  local function step(d)
    parts.opt:zero_grad()
    forward(parts, d):backward()
    local ok, err = pcall(parts.opt.step, parts.opt)
    if not ok then
      parts = nil
      error(err, 0)
    end
  end
  return {
    run = function(d)
      if not parts then parts = make(d) end
      step(d)
    end,
    next_step = function(d)
      if parts then step(d) end
    end,
  }
end

local function linear(d)
  return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)):to(d)
end
local function with(optimizer, options)
  return function(d)
    local net = linear(d)
    return {net = net, opt = optim[optimizer](net:parameters(), options)}
  end
end
local function sum(parts, d) return parts.net(ohm.ones(4, 8, {device = d})):sum() end

local function make_convolutions(d)
  local net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)):to(d)
  return {net = net, opt = optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})}
end
local function images(parts, d) return parts.net(ohm.ones(2, 3, 8, 8, {device = d})):mean() end

local function classify(parts, d)
  local logits = parts.net(ohm.ones(4, 8, {device = d}))
  return F.cross_entropy(logits, ohm.zeros(4, {device = d, dtype = "int64"}))
end

local function autocast(parts, d)
  local _ <close> = ohm.autocast("cuda")
  return sum(parts, d)
end

local function scaled()
  local parts, scaler
  local function step(d)
    parts.opt:zero_grad()
    local loss = autocast(parts, d):float()
    scaler:scale(loss):backward()
    scaler:step(parts.opt)
    scaler:update()
  end
  return {
    run = function(d)
      parts, scaler = parts or with("SGD", {lr = 0.1})(d), ohm.amp.GradScaler()
      step(d)
    end,
    next_step = function(d)
      if parts then step(d) end
    end,
  }
end

local function clipped()
  local parts
  local function step(d)
    parts.opt:zero_grad()
    sum(parts, d):backward()
    nn.utils.clip_grad_norm_(parts.net:parameters(), 1.0)
    local ok, err = pcall(parts.opt.step, parts.opt)
    if not ok then
      parts = nil
      error(err, 0)
    end
  end
  return {
    run = function(d)
      parts = parts or with("AdamW", {lr = 0.1})(d)
      step(d)
    end,
    next_step = function(d)
      if parts then step(d) end
    end,
  }
end

local function checkpointed(reentrant)
  return function(parts, d)
    local x = ohm.ones(4, 8, {device = d}):requires_grad_()
    local function body(input) return F.dropout(parts.net(input), {p = 0.5}) end
    return ohm.utils.checkpoint.checkpoint(body, x, {use_reentrant = reentrant}):sum()
  end
end

local function parallel(d)
  local net = nn.DataParallel(linear(d))
  return {net = net, opt = optim.SGD(net:parameters(), {lr = 0.1})}
end

local function ranks()
  ohm.distributed.spawn(2, function(rank)
    local d = "cuda:" .. rank
    local net = nn.parallel.DistributedDataParallel(linear(d))
    local opt = optim.Adam(net:parameters(), {lr = 0.1})
    for _ = 1, 2 do
      opt:zero_grad()
      net(ohm.ones(4, 8, {device = d})):sum():backward()
      opt:step()
    end
  end)
end

return ohm.scenario {
  name = "survival",
  summary = "What the runtime does with a failure of its own requests",
  gpu = {profile = "tiny-64m", count = 2, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    sgd = trained(with("SGD", {lr = 0.1, momentum = 0.9}), sum),
    adam = trained(with("Adam", {lr = 0.1}), classify),
    adam_for_loop = trained(with("Adam", {lr = 0.1, foreach = false}), sum),
    adamw_fused = trained(with("AdamW", {lr = 0.1, fused = true}), sum),
    rmsprop = trained(with("RMSprop", {lr = 0.1}), sum),
    adagrad = trained(with("Adagrad", {lr = 0.1}), sum),
    convolutions = trained(make_convolutions, images),
    autocast = trained(with("SGD", {lr = 0.1}), autocast),
    scaled = scaled(),
    clipped = clipped(),
    checkpoint = trained(with("SGD", {lr = 0.1}), checkpointed(false)),
    reentrant_checkpoint = trained(with("SGD", {lr = 0.1}), checkpointed(true)),
    data_parallel = trained(parallel, sum),
    distributed = ranks,
  },
}
