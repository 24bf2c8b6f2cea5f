-- Mixed precision for a whole module, as apex calls it O2 and Keras mixed_float16: parameters,
-- activations and gradients in half precision, BatchNorm in float32, and a float32 copy of every
-- parameter that the optimizer updates.
--
--   local model, optimizer = master_weights(model, function(p) return optim.Adam(p) end)
--   optimizer:backward(loss)   -- loss × scale, backward
--   optimizer:step()           -- skipped when a gradient overflowed
--   optimizer:zero_grad()
local NORMALISED_IN_FLOAT32 = {BatchNorm1d = true, BatchNorm2d = true, BatchNorm3d = true}

local function type_of(module) return tostring(module):match("^%w+") end

-- Everything but BatchNorm to `dtype`, module by module.
local function cast(module, dtype)
  if NORMALISED_IN_FLOAT32[type_of(module)] then return end
  if #module:children() == 0 then
    module:to(dtype)
  else
    for _, child in ipairs(module:children()) do cast(child, dtype) end
  end
end

local MasterOptimizer = {}
MasterOptimizer.__index = MasterOptimizer

function MasterOptimizer:backward(loss) (loss * self.scale):backward() end

-- Moves the gradients to the float32 copies; whether all of them are finite.
function MasterOptimizer:take_gradients()
  local are_finite = true
  for i, parameter in ipairs(self.parameters) do
    if parameter.grad ~= nil then
      local gradient = parameter.grad:float() * (1 / self.scale)
      local sum = gradient:sum():item()
      if sum == math.huge or sum == -math.huge then are_finite = false end
      if sum ~= sum and gradient.has_values then are_finite = false end
      self.masters[i].grad = gradient
    end
  end
  return are_finite
end

-- Whether the step was taken. A gradient that overflowed halves the scale instead.
function MasterOptimizer:step()
  local takes_step = self:take_gradients()
  if takes_step then
    self.optimizer:step()
    local _no_grad <close> = ohm.no_grad()
    for i, parameter in ipairs(self.parameters) do parameter:copy_(self.masters[i]) end
  else
    self.scale, self.skipped_steps = self.scale / 2, self.skipped_steps + 1
  end
  self.optimizer:zero_grad()
  return takes_step
end

function MasterOptimizer:zero_grad()
  for _, parameter in ipairs(self.parameters) do parameter.grad = nil end
end

-- options: dtype ("float16"), scale (65536 for float16, 1 for bfloat16).
return function(model, make_optimizer, options)
  options = options or {}
  local dtype = options.dtype or "float16"
  local masters, parameters = {}, model:parameters()
  for i, parameter in ipairs(parameters) do
    masters[i] = ohm.nn.Parameter(parameter:detach():clone())
  end
  cast(model, dtype)
  local optimizer = {
    parameters = model:parameters(), masters = masters, optimizer = make_optimizer(masters),
    scale = options.scale or (dtype == "float16" and 65536 or 1), skipped_steps = 0,
  }
  return model, setmetatable(optimizer, MasterOptimizer)
end
