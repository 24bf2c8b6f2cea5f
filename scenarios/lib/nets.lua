-- The nets that several scenarios train.
local bytes = require("bytes")
local nn = ohm.nn
local nets = {}

-- The guides' net: Linear(1000, 2000), ReLU, Linear(2000, 10).
function nets.two_layer(device)
  return nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):to(device)
end
nets.two_layer_bytes = bytes.linear(1000, 2000) + bytes.linear(2000, 10)

-- `depth` blocks of Linear(width, width) and an activation, then Linear(width, 10). Weights are
-- those of the seed, whatever was drawn before.
function nets.deep(depth, width, device, activation)
  ohm.manual_seed(1)
  local layers = {}
  for _ = 1, depth do
    layers[#layers + 1] = nn.Linear(width, width)
    layers[#layers + 1] = (activation or nn.ReLU)()
  end
  layers[#layers + 1] = nn.Linear(width, 10)
  return nn.Sequential(layers):to(device)
end
function nets.deep_bytes(depth, width)
  return depth * bytes.linear(width, width) + bytes.linear(width, 10)
end

-- The same samples and labels for every variant.
function nets.batch(size, features, device, classes)
  ohm.manual_seed(2)
  return ohm.randn(size, features, {device = device}),
         ohm.randint(classes or 10, {size}, {device = device})
end

-- A function that tells how a parameter has changed since: on the host, so that it costs the GPU
-- nothing. Training moves weights by little; what it moved them by is what shows that it trained.
function nets.change_of(parameter)
  local function values() return parameter:detach():cpu():float():clone() end
  local before = values()
  return function() return values() - before end
end

return nets
