-- Programs with and without seeded bugs: modes and settings that are left changed. The line above
-- each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local attention, memory = ohm.backends.cuda, ohm.cuda.memory
local programs = {}
local guard -- that outlives a program

local function ones(d) return ohm.ones(16, 16, {device = d}) end
local function work(d) return ((ones(d) * 2) + 1):sum():item() end

-- Three passes, each with something switched; an error leaves it as it is.
local function switched(switch)
  return function(d)
    local sum = 0
    for _ = 1, 3 do
      switch(true)
      sum = sum + work(d)
      switch(false)
    end
    return {sum = sum}
  end
end

-- Something is switched for a second try, and left so.
local function switched_for_a_retry(switch)
  return function(d)
    local sum = 0
    for _ = 1, 3 do
      p.again(function()
        local ok, result = pcall(work, d)
        if ok then
          sum = sum + result
        else
          switch(true)
          error(result, 0)
        end
      end)
    end
    return {sum = sum}
  end
end

local function no_gradients(is_on) ohm.set_grad_enabled(not is_on) end
local function limited(is_on) ohm.cuda.set_per_process_memory_fraction(is_on and 0.5 or 1.0) end
local function benchmark(is_on) ohm.backends.cudnn.benchmark = is_on end
local function without_cudnn(is_on) ohm.backends.cudnn.enabled = not is_on end
local function no_flash(is_on) attention.enable_flash_sdp(not is_on) end
local function no_efficient(is_on) attention.enable_mem_efficient_sdp(not is_on) end
local function expandable(is_on)
  memory._set_allocator_settings("expandable_segments:" .. (is_on and "True" or "False"))
end
local function no_splits(is_on)
  memory._set_allocator_settings(is_on and "max_split_size_mb:32" or "")
end
local function history(is_on)
  if is_on then memory._record_memory_history() else memory._record_memory_history(nil) end
end
local function held(enter)
  return function(is_on) guard = is_on and enter() or nil end
end

-- corrupt: gradients stay disabled
programs.gradients_off = switched(no_gradients)

-- corrupt: a second try disables gradients, and nothing enables them again
programs.gradients_off_for_a_retry = switched_for_a_retry(no_gradients)

-- corrupt: a guard of no_grad is held by a variable that lives on
programs.no_grad_held = switched(held(function() return ohm.no_grad() end))

-- corrupt: the same with autocast
programs.autocast_held = switched(held(function() return ohm.autocast("cuda") end))

-- corrupt: the same with inference mode
programs.inference_held = switched(held(function() return ohm.inference_mode() end))

-- corrupt: another stream stays current
programs.stream_held = switched(held(function()
  return ohm.cuda.stream(ohm.cuda.Stream())
end))

-- corrupt: the memory of the process stays limited to half of the card
programs.memory_limited = switched(limited)

-- corrupt: a second try limits memory
programs.memory_limited_for_a_retry = switched_for_a_retry(limited)

-- corrupt: cuDNN's benchmark stays on
programs.benchmark_on = switched(benchmark)

-- corrupt: cuDNN's benchmark is switched off for a second try, and not on again
programs.benchmark_off_for_a_retry = function(d)
  benchmark(true)
  return switched_for_a_retry(function() benchmark(false) end)(d)
end

-- corrupt: a second try does without cuDNN, and so does what comes after it
programs.cudnn_off_for_a_retry = switched_for_a_retry(without_cudnn)

-- corrupt: flash attention stays switched off
programs.flash_off = switched(no_flash)

-- corrupt: a second try switches flash attention off
programs.flash_off_for_a_retry = switched_for_a_retry(no_flash)

-- corrupt: memory-efficient attention stays switched off
programs.efficient_off = switched(no_efficient)

-- corrupt: expandable segments stay on
programs.expandable_on = switched(expandable)

-- corrupt: a second try sets the allocator's largest split
programs.splits_for_a_retry = switched_for_a_retry(no_splits)

-- corrupt: the memory history goes on
programs.history_on = switched(history)

-- corrupt: the memory history is started to look for the cause, and not stopped
programs.history_for_a_retry = switched_for_a_retry(history)

-- corrupt: a memory pool of the program's own goes on serving all requests
do
  local pool
  programs.memory_pool_held = switched(held(function()
    pool = pool or ohm.cuda.MemPool()
    return ohm.cuda.use_mem_pool(pool)
  end))
end

-- corrupt: a second try takes memory from a pool, and so does what comes after it
do
  local pool
  local enter = held(function()
    pool = pool or ohm.cuda.MemPool()
    return ohm.cuda.use_mem_pool(pool)
  end)
  programs.memory_pool_for_a_retry = switched_for_a_retry(enter)
end

-- corrupt: another GPU stays current when the last of three passes fails
programs.other_gpu_current = function(d)
  for i = 1, 3 do
    if i == 3 then ohm.cuda.set_device("cuda:1") end
    work(d)
    if i == 3 then ohm.cuda.set_device("cuda:0") end
  end
end

-- corrupt: the model stays in evaluation mode
do
  local net
  programs.evaluation_on = {
    run = function(d)
      net = net or p.net(d)
      net:eval()
      work(d)
      net:train()
    end,
    next_step = function(d)
      if net then net(p.batch(1, d)) end
    end,
  }
end

-- corrupt: the model stays frozen when the middle of three layers fails
do
  local net
  programs.frozen = {
    run = function(d)
      net = net or p.net(d)
      for i = 1, 3 do
        net:requires_grad_(i ~= 2)
        work(d)
      end
      net:requires_grad_(true)
    end,
    next_step = function(d)
      if net then net(p.batch(1, d)) end
    end,
  }
end

-- good: guards that close with their block
programs.guards_close = function(d)
  local sum = 0
  for _ = 1, 3 do
    local _ <close> = ohm.no_grad()
    local _ <close> = ohm.autocast("cuda")
    sum = sum + work(d)
  end
  return {sum = sum}
end

-- good: every switch is set back, whatever happens
programs.switches_set_back = function(d)
  local sum = 0
  local switches = {no_gradients, limited, benchmark, no_flash, expandable, no_splits, history}
  for _, switch in ipairs(switches) do
    switch(true)
    local ok, result = pcall(work, d)
    switch(false)
    if not ok then error(result, 0) end
    sum = sum + result
  end
  return {sum = sum}
end

-- good: what is set at the start is set for good
programs.set_at_the_start = function(d)
  no_flash(true)
  expandable(true)
  history(true)
  benchmark(true)
  return {sum = work(d)}
end

-- good: a memory pool for as long as a block lasts
programs.memory_pool_for_a_block = function(d)
  local sum
  local pool = ohm.cuda.MemPool()
  local ok, result = pcall(function()
    local _ <close> = ohm.cuda.use_mem_pool(pool)
    sum = work(d)
  end)
  if not ok then error(result, 0) end
  return {sum = sum}
end

-- good: only some attention kernels, for as long as a block lasts
programs.kernels_for_a_block = function(d)
  local x = ohm.ones(1, 2, 8, 8, {device = d})
  local _ <close> = ohm.nn.attention.sdpa_kernel("MATH")
  return {sum = ohm.nn.functional.scaled_dot_product_attention(x, x, x):sum():item()}
end

-- good: the history is recorded for a second try, and stopped
programs.history_of_a_retry = function(d)
  local sum
  if p.try(function() sum = work(d) end) then return {sum = sum} end
  history(true)
  local ok, result = pcall(work, d)
  history(false)
  if not ok then error(result, 0) end
  return {sum = result}
end

return p.scenario("modes", "Modes and settings after a failure", programs)
