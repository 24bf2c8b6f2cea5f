local ResBlock, Generator, Discriminator, init_weights, g_ab, g_ba, d_a, d_b, opt_g, opt_d, pool_a, pool_b, query, real_a, real_b, p, fake_b, rec_a, fake_a, rec_b, idt_a, idt_b, pred_a, pred_b, gan_loss, cycle_loss, idt_loss, loss_g, old_a, real_pred, fake_pred, loss_d_a, old_b, loss_d_b
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(channels)
  self.block = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3), nn.InstanceNorm2d(channels), nn.ReLU({inplace = true}), nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3), nn.InstanceNorm2d(channels))
end
function ResBlock:forward(x)
  return x + self.block(x)
end
Generator = nn.Module:extend("Generator")
function Generator:__init(ngf)
  if ngf == nil then ngf = 16 end
  self.model = nn.Sequential(nn.ReflectionPad2d(3), nn.Conv2d(3, ngf, 7), nn.InstanceNorm2d(ngf), nn.ReLU({inplace = true}), nn.Conv2d(ngf, ngf * 2, 3, {stride = 2, padding = 1}), nn.InstanceNorm2d(ngf * 2), nn.ReLU({inplace = true}), ResBlock(ngf * 2), ResBlock(ngf * 2), nn.ConvTranspose2d(ngf * 2, ngf, 3, {stride = 2, padding = 1, output_padding = 1}), nn.InstanceNorm2d(ngf), nn.ReLU({inplace = true}), nn.ReflectionPad2d(3), nn.Conv2d(ngf, 3, 7), nn.Tanh())
end
function Generator:forward(x)
  return self.model(x)
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init(ndf)
  if ndf == nil then ndf = 16 end
  self.model = nn.Sequential(nn.Conv2d(3, ndf, 4, {stride = 2, padding = 1}), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf, ndf * 2, 4, {stride = 2, padding = 1}), nn.InstanceNorm2d(ndf * 2), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 2, 1, 4, {padding = 1}))
end
function Discriminator:forward(x)
  return self.model(x)
end
function init_weights(m)
  if is_a(m, "Conv2d") then
    nn.init.normal_(m.weight, 0.0, 0.02)
    nn.init.constant_(m.bias, 0.0)
  end
end
g_ab = Generator():cuda()
g_ba = Generator():cuda()
d_a = Discriminator():cuda()
d_b = Discriminator():cuda()
g_ab:apply(init_weights)
g_ba:apply(init_weights)
opt_g = ohm.optim.Adam(joined(g_ab:parameters(), g_ba:parameters()), {lr = 0.0002, betas = {0.5, 0.999}})
opt_d = ohm.optim.Adam(joined(d_a:parameters(), d_b:parameters()), {lr = 0.0002, betas = {0.5, 0.999}})
pool_a = {}
pool_b = {}
mark("models")
function query(pool, images, step)
  local out, image, tmp
  out = {}
  for i = 0, images:size(0) - 1 do
    image = images:select(0, i):unsqueeze(0)
    if #pool < 3 then
      pool[#pool + 1] = image
      out[#out + 1] = image
    elseif (i + step) % 2 == 0 then
      tmp = pool[2]:clone()
      pool[2] = image
      out[#out + 1] = tmp
    else
      out[#out + 1] = image
    end
  end
  local result = ohm.cat(out, 0)
  clear(out)
  return result
end
for step = 0, 3 - 1 do
  real_a = ohm.randn(2, 3, 32, 32, {device = "cuda"})
  real_b = ohm.randn(2, 3, 32, 32, {device = "cuda"})
  for _, item1 in ipairs(joined(d_a:parameters(), d_b:parameters())) do
    p = item1
    p.requires_grad = false
  end
  opt_g:zero_grad()
  fake_b = g_ab(real_a)
  rec_a = g_ba(fake_b)
  fake_a = g_ba(real_b)
  rec_b = g_ab(fake_a)
  idt_a = g_ba(real_a)
  idt_b = g_ab(real_b)
  pred_a = d_a(fake_a)
  pred_b = d_b(fake_b)
  gan_loss = F.mse_loss(pred_a, ohm.ones_like(pred_a)) + F.mse_loss(pred_b, ohm.ones_like(pred_b))
  cycle_loss = F.l1_loss(rec_a, real_a) + F.l1_loss(rec_b, real_b)
  idt_loss = F.l1_loss(idt_a, real_a) + F.l1_loss(idt_b, real_b)
  loss_g = (gan_loss + (10.0 * cycle_loss)) + (5.0 * idt_loss)
  mark("forward " .. step)
  loss_g:backward()
  opt_g:step()
  mark("generators " .. step)
  for _, item2 in ipairs(joined(d_a:parameters(), d_b:parameters())) do
    p = item2
    p.requires_grad = true
  end
  opt_d:zero_grad()
  old_a = query(pool_a, fake_a:detach(), step)
  real_pred = d_a(real_a)
  fake_pred = d_a(old_a)
  loss_d_a = 0.5 * (F.mse_loss(real_pred, ohm.ones_like(real_pred)) + F.mse_loss(fake_pred, ohm.zeros_like(fake_pred)))
  loss_d_a:backward()
  old_b = query(pool_b, fake_b:detach(), step)
  real_pred = d_b(real_b)
  fake_pred = d_b(old_b)
  loss_d_b = 0.5 * (F.mse_loss(real_pred, ohm.ones_like(real_pred)) + F.mse_loss(fake_pred, ohm.zeros_like(fake_pred)))
  loss_d_b:backward()
  opt_d:step()
  mark("discriminators " .. step)
end
mark("end of program (globals alive)")
g_ab = nil
g_ba = nil
d_a = nil
d_b = nil
opt_g = nil
opt_d = nil
pool_a = nil
pool_b = nil
real_a = nil
real_b = nil
p = nil
fake_b = nil
rec_a = nil
fake_a = nil
rec_b = nil
idt_a = nil
idt_b = nil
pred_a = nil
pred_b = nil
gan_loss = nil
cycle_loss = nil
idt_loss = nil
loss_g = nil
old_a = nil
real_pred = nil
fake_pred = nil
loss_d_a = nil
old_b = nil
loss_d_b = nil
mark("globals deleted")
