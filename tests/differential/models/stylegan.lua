-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local EqualLinear, ModulatedConv2d, StyledConv, Generator, Discriminator, g, d, g_ema, g_optim, d_optim, mean_path, real, fake, _, d_loss, real_pred, grad_real, r1, w, g_loss, p_ema, p
EqualLinear = nn.Module:extend("EqualLinear")
function EqualLinear:__init(i, o, bias, lr_mul)
  if lr_mul == nil then lr_mul = 1.0 end
  if bias == nil then bias = 0.0 end
  self.weight = nn.Parameter(ohm.randn(o, i):div_(lr_mul))
  self.bias = nn.Parameter(ohm.zeros(o):fill_(bias))
  self.scale = (1 / math.sqrt(i)) * lr_mul
  self.lr_mul = lr_mul
end
function EqualLinear:forward(x)
  return F.linear(x, self.weight * self.scale, {bias = self.bias * self.lr_mul})
end
ModulatedConv2d = nn.Module:extend("ModulatedConv2d")
function ModulatedConv2d:__init(i, o, kernel, style, upsample, demodulate)
  if demodulate == nil then demodulate = true end
  if upsample == nil then upsample = false end
  self.i = i
  self.o = o
  self.kernel = kernel
  self.upsample = upsample
  self.demodulate = demodulate
  self.scale = 1 / math.sqrt(i * (kernel ^ 2))
  self.weight = nn.Parameter(ohm.randn(1, o, i, kernel, kernel))
  self.modulation = EqualLinear(style, i, 1.0)
end
function ModulatedConv2d:forward(x, style)
  local batch, c, height, width, weight, demod, out
  batch, c, height, width = table.unpack(x.shape)
  style = self.modulation(style):view(batch, 1, c, 1, 1)
  weight = (self.scale * self.weight) * style
  if self.demodulate then
    demod = ohm.rsqrt(weight:pow(2):sum({2, 3, 4}) + 1e-08)
    weight = weight * demod:view(batch, self.o, 1, 1, 1)
  end
  weight = weight:view(batch * self.o, c, self.kernel, self.kernel)
  if self.upsample then
    x = x:view(1, batch * c, height, width)
    weight = weight:view(batch, self.o, c, self.kernel, self.kernel)
    weight = weight:transpose(1, 2):reshape(batch * c, self.o, self.kernel, self.kernel)
    out = F.conv_transpose2d(x, weight, {padding = 0, stride = 2, groups = batch})
    out = slice(slice(slice(slice(out, 0, 0), 1, 0), 2, 0, -1), 3, 0, -1)
  else
    x = x:view(1, batch * c, height, width)
    out = F.conv2d(x, weight, {padding = self.kernel // 2, groups = batch})
  end
  return out:reshape(batch, self.o, out:size(2), out:size(3))
end
StyledConv = nn.Module:extend("StyledConv")
function StyledConv:__init(i, o, style, upsample)
  if upsample == nil then upsample = false end
  self.conv = ModulatedConv2d(i, o, 3, style, upsample)
  self.noise = nn.Parameter(ohm.zeros(1))
  self.bias = nn.Parameter(ohm.zeros(1, o, 1, 1))
end
function StyledConv:forward(x, style)
  local out, batch, _, height, width
  out = self.conv(x, style)
  batch, _, height, width = table.unpack(out.shape)
  out = out + (self.noise * out:new_empty(batch, 1, height, width):normal_())
  return F.leaky_relu(out + self.bias, {negative_slope = 0.2}) * math.sqrt(2)
end
Generator = nn.Module:extend("Generator")
function Generator:__init(style)
  self.mapping = nn.Sequential(EqualLinear(style, style, nil, 0.01), nn.LeakyReLU(0.2), EqualLinear(style, style, nil, 0.01), nn.LeakyReLU(0.2))
  self.input = nn.Parameter(ohm.randn(1, 16, 4, 4))
  self.conv1 = StyledConv(16, 16, style)
  self.conv2 = StyledConv(16, 16, style, true)
  self.conv3 = StyledConv(16, 8, style)
  self.to_rgb = ModulatedConv2d(8, 3, 1, style, nil, false)
end
function Generator:forward(z)
  local w, out
  z = z * ohm.rsqrt(ohm.mean(z ^ 2, {dim = 1, keepdim = true}) + 1e-08)
  w = self.mapping(z)
  out = repeated(self.input, z:size(0), 1, 1, 1)
  out = self.conv3(self.conv2(self.conv1(out, w), w), w)
  return self.to_rgb(out, w), w
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init()
  self.convs = nn.Sequential(nn.Conv2d(3, 16, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 16, 3, 2, 1), nn.LeakyReLU(0.2))
  self.final_conv = nn.Conv2d(17, 16, 3, {padding = 1})
  self.final = nn.Linear(16 * 16, 1)
end
function Discriminator:forward(x)
  local out, batch, channel, height, width, group, stddev
  out = self.convs(x)
  batch, channel, height, width = table.unpack(out.shape)
  group = math.min(batch, 4)
  stddev = out:view(group, -1, 1, channel, height, width)
  stddev = ohm.sqrt(stddev:var(0, {unbiased = false}) + 1e-08)
  stddev = stddev:mean({2, 3, 4}, {keepdim = true}):squeeze(2)
  stddev = repeated(stddev, group, 1, height, width)
  out = self.final_conv(ohm.cat({out, stddev}, 1))
  return self.final(out:view(batch, -1))
end
g = Generator(24):cuda()
d = Discriminator():cuda()
g_ema = Generator(24):cuda()
g_ema:load_state_dict(g:state_dict())
g_optim = ohm.optim.Adam(g:parameters(), {lr = 0.002, betas = {0.0, 0.99}})
d_optim = ohm.optim.Adam(d:parameters(), {lr = 0.002, betas = {0.0, 0.99}})
mean_path = ohm.zeros({}, {device = "cuda"})
mark("model")
for step = 0, 2 - 1 do
  real = ohm.randn(4, 3, 8, 8, {device = "cuda"})
  do
    local new1, new2 = g(ohm.randn(4, 24, {device = "cuda"}))
    fake = new1
    _ = new2
  end
  d_loss = F.softplus(-d(real)):mean() + F.softplus(d(fake:detach())):mean()
  d:zero_grad()
  d_loss:backward()
  d_optim:step()
  mark("d " .. step)
  real.requires_grad = true
  real_pred = d(real)
  grad_real = at(ohm.autograd.grad(real_pred:sum(), {real}, {create_graph = true}), 0)
  r1 = grad_real:pow(2):reshape(grad_real:size(0), -1):sum(1):mean()
  d:zero_grad()
  ;((5.0 * r1) + (0 * at(real_pred, 0))):backward()
  d_optim:step()
  mark("r1 " .. step)
  do
    local new1, new2 = g(ohm.randn(4, 24, {device = "cuda"}))
    fake = new1
    w = new2
  end
  g_loss = F.softplus(-d(fake)):mean()
  g:zero_grad()
  g_loss:backward()
  g_optim:step()
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_0 = items(g_ema:parameters())
      local list2_1 = items(g:parameters())
      for number2 = 1, math.min(#list2_0, #list2_1) do
        p_ema = list2_0[number2]
        p = list2_1[number2]
        p_ema:mul_(0.99):add_(p, {alpha = 0.01})
      end
    end
  end
  mark("g " .. step)
end
mark("end of program (globals alive)")
g = nil
d = nil
g_ema = nil
g_optim = nil
d_optim = nil
mean_path = nil
real = nil
fake = nil
_ = nil
d_loss = nil
real_pred = nil
grad_real = nil
r1 = nil
w = nil
g_loss = nil
p_ema = nil
p = nil
mark("globals deleted")

