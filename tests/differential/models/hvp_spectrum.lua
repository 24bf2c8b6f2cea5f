local model, params, x, y, hvp, normalized, sum_of, loss, grads, eigenvalues, vectors, v, u, overlap, Hv, value, trace, penalty, total
model = nn.Sequential(nn.Linear(23, 47), nn.Softplus(), nn.Linear(47, 31), nn.Tanh(), nn.Linear(31, 4)):cuda()
params = model:parameters()
x = ohm.randn(26, 23, {device = "cuda"})
y = ohm.randint(0, 4, {26}, {device = "cuda"})
mark("model")
function hvp(grads, params, v)
  local dot, g, u
  dot = 0
  do
    local list1_2 = v
    for number1, item1 in ipairs(grads) do
      g = item1
      u = list1_2[number1]
      dot = dot + (g * u):sum()
    end
  end
  return ohm.autograd.grad(dot, params, {retain_graph = true})
end
function normalized(v)
  local norm
  norm = ohm.sqrt(sum_of(map(function(u) return (u * u):sum() end, v))) + 1e-06
  return map(function(u) return u / norm end, v)
end
function sum_of(items)
  local total, item
  total = items[1]
  for i = 2, #items do
    item = items[i]
    total = total + item
  end
  return total
end
loss = F.cross_entropy(model(x), y)
grads = ohm.autograd.grad(loss, params, {create_graph = true})
mark("gradient")
eigenvalues = {}
vectors = {}
for k = 0, 2 - 1 do
  v = normalized(map(function(p) return ohm.randn_like(p) end, params))
  for i = 0, 3 - 1 do
    for _, item3 in ipairs(vectors) do
      u = item3
      overlap = sum_of(map(function(a, b) return (a * b):sum() end, v, u))
      v = map(function(a, b) return a - (overlap * b) end, v, u)
    end
    Hv = hvp(grads, params, v)
    value = sum_of(map(function(a, b) return (a * b):sum() end, Hv, v)):item()
    v = normalized(Hv)
    mark("vector " .. k .. " turn " .. i)
  end
  eigenvalues[#eigenvalues + 1] = value
  vectors[#vectors + 1] = v
end
trace = 0.0
for i = 0, 2 - 1 do
  do
    local old6 = v
    v = map(function(p) return (ohm.randint(0, 2, p.shape, {device = "cuda"}):float() * 2) - 1 end, params)
    if i > 0 then clear(old6) end
  end
  Hv = hvp(grads, params, v)
  trace = trace + sum_of(map(function(a, b) return (a * b):sum() end, Hv, v)):item()
end
mark("trace")
grads = nil
loss = nil
mark("graph gone")
penalty = ohm.autograd.grad(F.cross_entropy(model(x), y), params, {create_graph = true})
total = sum_of(map(function(p) return p:pow(2):sum() end, penalty))
total:backward()
mark("penalty")
mark("end of program (globals alive)")
model = nil
params = nil
x = nil
y = nil
eigenvalues = nil
vectors[2] = clear(vectors[2])
vectors = nil
v = nil
Hv = nil
u = nil
overlap = nil
penalty = nil
total = nil
mark("globals deleted")
