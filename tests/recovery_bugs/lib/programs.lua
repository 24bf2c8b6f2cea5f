-- What the programs share: small models, tries that drop their error, and the scenario around them.

local nn = ohm.nn
local M = {}

function M.net(d)
  ohm.manual_seed(7)
  return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)):to(d)
end

function M.batch(i, d) return ohm.full({4, 8}, i / 8, {device = d}) end

-- Whether `fn` went through; what it raised is dropped, with all that it held.
function M.try(fn, ...)
  local ok, err = pcall(fn, ...)
  if ok then return true end
  err = nil
  return false
end

-- Calls `fn` again when it fails: outside of the handler, once.
function M.again(fn, ...)
  if not M.try(fn, ...) then fn(...) end
end

-- One number of all weights. Not under the eyes of anything that fails: what is on the host is.
function M.sum_of(net)
  local sum = 0
  for _, p in ipairs(net:parameters()) do sum = sum + p:detach():cpu():double():sum():item() end
  return sum
end

-- Copies on the host, and what puts them back.
function M.copies(tensors)
  local copies = {}
  for i, t in ipairs(tensors) do copies[i] = t:detach():cpu() end
  return copies
end
function M.restore(tensors, copies)
  local _ <close> = ohm.no_grad()
  for i, t in ipairs(tensors) do t:copy_(copies[i]) end
end

function M.scenario(name, summary, programs)
  return ohm.scenario {
    name = name,
    summary = summary,
    gpu = {profile = "tiny-64m", count = 2, values = true},
    limits = {"num_ooms == 0"},
    problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
    controls = programs,
  }
end

return M
