local Net, model, params, names, buffers, compute_loss, norms_of, per_sample, x, y, grads, norms, factor, g
Net = nn.Module:extend("Net")
function Net:__init()
  self.fc1 = nn.Linear(40, 64)
  self.fc2 = nn.Linear(64, 48)
  self.fc3 = nn.Linear(48, 10)
end
function Net:forward(x)
  x = F.relu(self.fc1(x))
  x = ohm.tanh(self.fc2(x))
  return self.fc3(x)
end
function compute_loss(params, buffers, sample, target)
  local predictions
  predictions = ohm.func.functional_call(model, {params, buffers}, {sample:unsqueeze(0)})
  return F.cross_entropy(predictions, target:unsqueeze(0))
end
function norms_of(grads)
  local norms
  norms = {}
  for _, name in ipairs(names) do norms[#norms + 1] = grads[name]:reshape(16, -1):norm(2, {dim = 1}) end
  return norms
end
model = Net():cuda()
params, names = {}, {}
for k, v in model:named_parameters() do
  params[k] = v:detach()
  names[#names + 1] = k
end
buffers = {}
for k, v in model:named_buffers() do buffers[k] = v:detach() end
per_sample = ohm.func.vmap(ohm.func.grad(compute_loss), {in_dims = {false, false, 0, 0}})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(16, 40, {device = "cuda"})
  y = ohm.randint(0, 10, {16}, {device = "cuda"})
  grads = per_sample(params, buffers, x, y)
  mark("gradients " .. step)
  norms = ohm.stack(norms_of(grads)):norm(2, {dim = 0})
  factor = (1.0 / (norms + 1e-6)):clamp({max = 1.0})
  for _, name in ipairs(names) do
    g = ohm.einsum("i,i...->...", factor, grads[name])
    g = g + ohm.randn_like(g) * 0.5
    params[name] = params[name] - 0.1 * g / 16
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
for _, name in ipairs(names) do params[name] = nil; sweep() end
buffers = nil
x = nil
y = nil
for _, name in ipairs(names) do grads[name] = nil; sweep() end
norms = nil
factor = nil
g = nil
mark("globals deleted")
