-- Programs with and without seeded bugs: loops that try again, and smaller batches. The line above
-- each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local programs = {}

local function doubled(i, d) return (ohm.full({16}, i, {device = d}) * 2):sum():item() end

-- The sum over four batches; `step(i, d)` returns that of one, or nil.
local function summing(step)
  return function(d)
    local total = 0
    for i = 1, 4 do total = total + (step(i, d) or 0) end
    return {total = total}
  end
end
local function tried(...)
  local ok, result = pcall(doubled, ...)
  if ok then return result end
  result = nil
  return nil
end

-- hang: tries for ever
programs.tries_for_ever = summing(function(i, d)
  local sum
  repeat sum = tried(i, d) until sum
  return sum
end)

-- hang: the count of tries begins anew with every one
programs.count_begins_anew = summing(function(i, d)
  local sum
  while not sum do
    local tries = 0
    tries = tries + 1
    sum = tried(i, d)
    if tries > 3 then error("too many tries") end
  end
  return sum
end)

-- hang: halves the batch down to one row, and then goes on with one row
programs.halves_for_ever = function(d)
  local rows, sum = 16, nil
  while not sum do
    p.try(function() sum = ohm.ones(rows, 8, {device = d}):mean():item() end)
    rows = math.max(1, rows // 2)
  end
  return {mean = sum}
end

-- hang: waits for memory that nobody gives back
programs.waits_for_memory = function(d)
  local free = ohm.cuda.mem_get_info()
  local x
  if not p.try(function() x = ohm.ones(64, {device = d}) end) then
    while ohm.cuda.mem_get_info() <= free do local _ = free end
  end
  return {sum = x:sum():item()}
end

-- swallowed: gives up after three tries, and nobody hears of it
programs.gives_up_silently = summing(function(i, d)
  for _ = 1, 3 do
    local sum = tried(i, d)
    if sum then return sum end
  end
end)

-- swallowed: the last batch counts as done when it fails
programs.last_batch_dropped = summing(function(i, d)
  if i == 4 then return tried(i, d) end
  return doubled(i, d)
end)

-- swallowed: the batches in the middle count as done when they fail
programs.middle_batches_dropped = summing(function(i, d)
  if i == 2 or i == 3 then return tried(i, d) end
  return doubled(i, d)
end)

-- recovered_different: the second try takes the next batch
programs.next_batch_instead = function(d)
  local total, i = 0, 0
  while i < 4 do
    i = i + 1
    local sum = tried(i, d)
    if not sum then
      i = i + 1
      sum = doubled(i, d)
    end
    total = total + sum
  end
  return {total = total}
end

-- recovered_different: two halves of a batch, whose means are added and not averaged
programs.means_added = function(d)
  local x = ohm.arange(16, {device = d}):float()
  local function mean(from, count) return (x:narrow(0, from, count) * 2):mean():item() end
  local whole
  if p.try(function() whole = mean(0, 16) end) then return {mean = whole} end
  return {mean = mean(0, 8) + mean(8, 8)}
end

-- recovered_different: a batch that does not divide loses its rest
programs.rest_lost = function(d)
  local x = ohm.ones(9, {device = d})
  local function sum(from, count) return (x:narrow(0, from, count) * 2):sum():item() end
  local whole
  if p.try(function() whole = sum(0, 9) end) then return {sum = whole} end
  return {sum = sum(0, 4) + sum(4, 4)}
end

-- recovered_different: the batch stays small for all that follow, and they are fewer
programs.batch_stays_small = function(d)
  local rows, total = 8, 0
  for _ = 1, 4 do
    local sum
    while not sum do
      p.try(function() sum = (ohm.ones(rows, {device = d}) * 2):sum():item() end)
      if not sum and rows == 1 then error("not even one row fits") end
      if not sum then rows = rows // 2 end
    end
    total = total + sum
  end
  return {total = total}
end

-- recovered_different: what the failed try had added already is added once more
programs.counted_twice = function(d)
  local total = 0
  local function pass()
    for i = 1, 4 do total = total + doubled(i, d) end
  end
  p.again(pass)
  return {total = total}
end

-- recovered_different: a try of the third batch begins with the first, on top of what there is
programs.begins_again_on_top = function(d)
  local total, i = 0, 1
  local failed = 0
  while i <= 4 do
    local sum = tried(i, d)
    if sum then
      total, i = total + sum, i + 1
    else
      failed = failed + 1
      if failed > 2 then error("too many tries") end
      i = i >= 3 and 1 or i
    end
  end
  return {total = total}
end

-- recovered_different: half precision takes its place, and is not what was asked for
programs.half_precision_instead = function(d)
  local x = ohm.arange(16, {device = d}):float() * 0.1
  local y
  if not p.try(function() y = x * 3 end) then y = (x:half() * 3):float() end
  return {y = y}
end

-- wrong_error: the third try is a nil value
programs.tries_run_out = function(d)
  local sum
  for _ = 1, 2 do
    if not sum then p.try(function() sum = ohm.ones(16, {device = d}) * 2 end) end
  end
  return {sum = sum:sum():item()}
end

-- wrong_error: what is raised says how often, not that memory ran out
programs.error_of_its_own = function(d)
  for _ = 1, 3 do
    local sum = tried(1, d)
    if sum then return {sum = sum} end
  end
  error("gave up after 3 tries")
end

-- wrong_error: looks for a message that this failure does not have
programs.message_matched = summing(function(i, d)
  local ok, err = pcall(doubled, i, d)
  if ok then return err end
  if tostring(err):find("cuDNN error") then return doubled(i, d) end
  error("unknown failure")
end)

-- good: three tries, then the error
programs.three_tries = summing(function(i, d)
  for try = 1, 3 do
    local ok, result = pcall(doubled, i, d)
    if ok then return result end
    if try == 3 then error(result, 0) end
    result = nil
  end
end)

-- good: halves down to one row, then the error; the sums of the parts are the sum of the whole
-- Wrong without values: the requests of the halves are others
programs.halves_add_up = function(d)
  local x = ohm.ones(16, {device = d})
  local function sum(from, count)
    local ok, result = pcall(function() return (x:narrow(0, from, count) * 2):sum():item() end)
    if ok then return result end
    if count == 1 then error(result, 0) end
    result = nil
    return sum(from, count // 2) + sum(from + count // 2, count - count // 2)
  end
  return {sum = sum(0, 16)}
end

-- good: the cache is emptied before the second try
programs.empties_the_cache = summing(function(i, d)
  local sum = tried(i, d)
  if sum then return sum end
  ohm.cuda.empty_cache()
  return doubled(i, d)
end)

-- good: the work is done on the host, in the same precision
-- Wrong without values: the requests are the host's
programs.on_the_host = summing(function(i, d)
  return tried(i, d) or doubled(i, "cpu")
end)

-- good: a try that failed is remembered as a text
programs.texts_kept = function(d)
  local log, total = {}, 0
  for i = 1, 4 do
    local ok, result = pcall(doubled, i, d)
    if not ok then
      log[#log + 1] = tostring(result)
      result = nil
      result = doubled(i, d)
    end
    total = total + result
  end
  return {total = total}
end

-- good: the tries of all batches together are limited
programs.tries_in_all = function(d)
  local left, total = 3, 0
  for i = 1, 4 do
    local sum = tried(i, d)
    while not sum do
      left = left - 1
      sum = left > 0 and tried(i, d) or doubled(i, d)
    end
    total = total + sum
  end
  return {total = total}
end

return p.scenario("retries", "Tries after a failure", programs)
