-- Keeping losses keeps their graphs; numbers do not.
local nn = ohm.nn
local params = ohm.params {batch = 32}

local function train(device, keep)
  local net = nn.Linear(64, 256):to(device)
  local total, x, loss = 0, nil, nil
  for _ = 1, 6 do
    x = ohm.ones(params.batch, 64, {device = device})
    loss = net(x):mean()
    total = keep(total, loss)
    ohm.step()
  end
  return {total = total}
end

return ohm.scenario {
  name = "sum_of_losses",
  summary = "A sum of losses keeps every graph",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"growth_bytes_per_step == 0"},
  problems = {sum = function(d) return train(d, function(t, l) return t + l end) end},
  mitigations = {item = function(d) return train(d, function(t, l) return t + l:item() end) end},
}
