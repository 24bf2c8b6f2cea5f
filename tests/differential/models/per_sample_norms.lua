local Net, model, params, names, compute_loss, norms_of, per_sample, x, y, grads, losses, norms, factor, p, g
ohm.backends.cudnn.enabled = true
Net = nn.Module:extend("Net")
function Net:__init()
  self.inp = nn.Linear(24, 48)
  self.norm = nn.LayerNorm(48)
  self.mid = nn.Linear(48, 48, {bias = false})
  self.norm2 = nn.LayerNorm(48)
  self.out = nn.Linear(48, 6)
end
function Net:forward(x)
  local h
  h = F.gelu(self.norm(self.inp(x)))
  h = h + ohm.tanh(self.mid(h))
  h = self.norm2(h):mean(1)
  return self.out(h)
end
function norms_of(grads)
  local norms
  norms = {}
  for _, name in ipairs(names) do norms[#norms + 1] = grads[name]:reshape(10, -1):norm(2, {dim = 1}) end
  return norms
end
model = Net():cuda()
params, names = {}, {}
for k, v in model:named_parameters() do
  params[k] = v:detach()
  names[#names + 1] = k
end
mark("model")
function compute_loss(params, sample, target)
  local predictions
  predictions = ohm.func.functional_call(model, params, {sample:unsqueeze(0)})
  return F.binary_cross_entropy_with_logits(predictions, target:unsqueeze(0))
end
function per_sample(params, sample, target)
  local g, loss
  g, loss = ohm.func.grad_and_value(compute_loss)(params, sample, target)
  return g, loss
end
x = ohm.randn(10, 5, 24, {device = "cuda"})
y = ohm.rand(10, 6, {device = "cuda"})
mark("data")
do
  local new1, new2 = ohm.func.vmap(per_sample, {in_dims = {false, 0, 0}, chunk_size = 4})(params, x, y)
  grads = new1
  losses = new2
end
mark("grads")
norms = ohm.stack(norms_of(grads)):norm(2, {dim = 0})
factor = (1.0 / (norms + 1e-6)):clamp({max = 1.0})
mark("norms")
for _, name in ipairs(names) do
  g = ohm.einsum("i,i...->...", factor, grads[name]) / 10
  params[name]:sub_(0.1 * g)
end
mark("step")
mark("end of program (globals alive)")
model = nil
params = nil
x = nil
y = nil
grads = nil
losses = nil
norms = nil
factor = nil
g = nil
mark("globals deleted")
