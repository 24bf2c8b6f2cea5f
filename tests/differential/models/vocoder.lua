local ResStack, Generator, PeriodCritic, G, critics, g_opt, d_opt, mel, real, fake, d_loss, critic, r, _, f, adv, fm, r1, r2, f1, f2, energy, g_loss
ohm.backends.cudnn.enabled = true
ResStack = nn.Module:extend("ResStack")
function ResStack:__init(channels, dilations)
  self.convs = nn.ModuleList(map(function(d) return nn.Conv1d(channels, channels, 3, {dilation = d, padding = d}) end, dilations))
end
function ResStack:forward(x)
  local conv
  for nth1, item1 in ipairs(self.convs:children()) do
    conv = item1
    x = x + conv(F.leaky_relu(x, 0.1))
  end
  return x
end
Generator = nn.Module:extend("Generator")
function Generator:__init(mels)
  self.pre = nn.Conv1d(mels, 48, 7, {padding = 3})
  self.up1 = nn.ConvTranspose1d(48, 24, 8, {stride = 4, padding = 2})
  self.r1 = ResStack(24, {1, 3})
  self.up2 = nn.ConvTranspose1d(24, 12, 4, {stride = 2, padding = 1})
  self.r2 = ResStack(12, {1, 3, 5})
  self.post = nn.Conv1d(12, 1, 7, {padding = 3})
end
function Generator:forward(mel)
  local x
  x = self.r1(self.up1(F.leaky_relu(self.pre(mel), 0.1)))
  x = self.r2(self.up2(F.leaky_relu(x, 0.1)))
  return ohm.tanh(self.post(F.leaky_relu(x)))
end
PeriodCritic = nn.Module:extend("PeriodCritic")
function PeriodCritic:__init(period)
  self.period = period
  self.c1 = nn.Conv2d(1, 8, {5, 1}, {3, 1}, {padding = {2, 0}})
  self.c2 = nn.Conv2d(8, 16, {5, 1}, {3, 1}, {padding = {2, 0}})
  self.post = nn.Conv2d(16, 1, {3, 1}, 1, {padding = {1, 0}})
end
function PeriodCritic:forward(x)
  local b, c, t, missing, f1, f2
  b, c, t = table.unpack(x.shape)
  missing = (-t) % self.period
  if missing > 0 then
    x = F.pad(x, {0, missing}, "reflect")
  end
  x = x:view(b, c, (t + missing) // self.period, self.period)
  f1 = F.leaky_relu(self.c1(x), 0.1)
  f2 = F.leaky_relu(self.c2(f1), 0.1)
  return self.post(f2):flatten(1), f1, f2
end
G = Generator(20):cuda()
critics = nn.ModuleList(map(function(p) return PeriodCritic(p) end, {2, 3, 5})):cuda()
g_opt = ohm.optim.AdamW(G:parameters(), 0.0002, {betas = {0.8, 0.99}})
d_opt = ohm.optim.AdamW(critics:parameters(), 0.0002, {betas = {0.8, 0.99}})
mark("models")
for step = 0, 2 - 1 do
  mel = ohm.randn(3, 20, 17, {device = "cuda"})
  real = (ohm.rand(3, 1, 136, {device = "cuda"}) * 2) - 1
  fake = G(mel)
  d_loss = 0
  for nth2, item2 in ipairs(critics) do
    critic = item2
    do
      local new1, new2, new3 = critic(real)
      r = new1
      _ = new2
      _ = new3
    end
    do
      local new1, new2, new3 = critic(fake:detach())
      f = new1
      _ = new2
      _ = new3
    end
    d_loss = (d_loss + ((1 - r) ^ 2):mean()) + (f ^ 2):mean()
  end
  d_opt:zero_grad()
  d_loss:backward()
  d_opt:step()
  mark("critics " .. step)
  adv, fm = 0, 0
  for nth3, item3 in ipairs(critics) do
    critic = item3
    do
      local mode4 <close> = ohm.no_grad()
      do
        local new1, new2, new3 = critic(real)
        r = new1
        r1 = new2
        r2 = new3
      end
    end
    do
      local new1, new2, new3 = critic(fake)
      f = new1
      f1 = new2
      f2 = new3
    end
    adv = adv + ((1 - f) ^ 2):mean()
    fm = (fm + F.l1_loss(f1, r1)) + F.l1_loss(f2, r2)
  end
  energy = F.l1_loss(F.avg_pool1d(fake:abs(), 8, 4), F.avg_pool1d(real:abs(), 8, 4))
  g_loss = (adv + (2 * fm)) + (45 * energy)
  g_opt:zero_grad()
  g_loss:backward()
  g_opt:step()
  mark("generator " .. step)
end
mark("end of program (globals alive)")
G = nil
critics = nil
g_opt = nil
d_opt = nil
mel = nil
real = nil
fake = nil
d_loss = nil
critic = nil
r = nil
_ = nil
f = nil
adv = nil
fm = nil
r1 = nil
r2 = nil
f1 = nil
f2 = nil
energy = nil
g_loss = nil
mark("globals deleted")
