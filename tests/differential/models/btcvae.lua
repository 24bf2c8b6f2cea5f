local VAE, log_density, total_correlation, model, discriminator, optimizer, optimizer_d, x, out, mu, logvar, z, reconstruction, mi, tc, kl, d, factor, loss, z2, permuted, d_loss
VAE = nn.Module:extend("VAE")
function VAE:__init(z)
  if z == nil then z = 6 end
  self.encoder = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 64), nn.ReLU(), nn.Linear(64, 2 * z))
  self.decoder = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, 16 * 64), nn.ReLU(), nn.Unflatten(1, {16, 8, 8}), nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))
  self:apply(VAE.weight_init)
end
function VAE.weight_init(m)
  if is_a(m, "Linear") or is_a(m, "Conv2d") or is_a(m, "ConvTranspose2d") then
    nn.init.xavier_normal_(m.weight)
    nn.init.zeros_(m.bias)
  end
end
function VAE:forward(x)
  local mu, logvar, std, z
  mu, logvar = self.encoder(x):chunk(2, {dim = 1})
  std = ohm.exp(0.5 * logvar)
  z = mu + (std * ohm.randn_like(std))
  return self.decoder(z), mu, logvar, z
end
function log_density(z, mu, logvar)
  local c
  c = math.log(2 * math.pi)
  return (-0.5) * ((c + logvar) + (((z - mu) ^ 2) * ohm.exp(-logvar)))
end
function total_correlation(z, mu, logvar, data)
  local b, matrix, weight, log_weight, log_qz, log_product, log_q, log_p
  if data == nil then data = 1000 end
  b = z:size(0)
  matrix = log_density(z:unsqueeze(1), mu:unsqueeze(0), logvar:unsqueeze(0))
  weight = ohm.full({b, b}, 1 / (b - 1), {device = z.device})
  slice(weight:view(-1), 0, 0, nil, b + 1):fill_(1 / data)
  slice(weight:view(-1), 0, 1, nil, b + 1):fill_(1 / data)
  log_weight = weight:log()
  log_qz = ohm.logsumexp(log_weight + matrix:sum(2), {dim = 1})
  log_product = ohm.logsumexp(log_weight:unsqueeze(2) + matrix, {dim = 1}):sum(1)
  log_q = log_density(z, mu, logvar):sum(1)
  log_p = log_density(z, ohm.zeros_like(z), ohm.zeros_like(z)):sum(1)
  return (log_q - log_qz):mean(), (log_qz - log_product):mean(), (log_product - log_p):mean()
end
model = VAE():cuda()
discriminator = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2, true), nn.Linear(32, 2)):cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0005})
optimizer_d = ohm.optim.Adam(discriminator:parameters(), {lr = 0.0001, betas = {0.5, 0.9}})
mark("models")
for step = 0, 2 - 1 do
  x = ohm.rand(16, 1, 32, 32, {device = "cuda"})
  do
    local new1, new2, new3, new4 = model(x)
    out = new1
    mu = new2
    logvar = new3
    z = new4
  end
  reconstruction = F.binary_cross_entropy_with_logits(out, x, {reduction = "sum"}):div(16)
  do
    local new1, new2, new3 = total_correlation(z, mu, logvar)
    mi = new1
    tc = new2
    kl = new3
  end
  d = discriminator(z)
  factor = (slice(slice(d, 0, 0), 1, 0, 1) - slice(slice(d, 0, 0), 1, 1)):mean()
  loss = (((reconstruction + mi) + (6 * tc)) + kl) + factor
  optimizer:zero_grad()
  loss:backward({retain_graph = true})
  do
    local mode1 <close> = ohm.no_grad()
    do local a, b, c, d = model(ohm.rand(16, 1, 32, 32, {device = "cuda"})); c = nil; sweep(); b = nil; sweep(); a = nil; sweep(); z2 = d; sweep() end
    permuted = ohm.stack(collect(6, function(i) return z2:select(1, i):index({ohm.randperm(16, {device = "cuda"})}) end), 1)
  end
  d_loss = 0.5 * (F.cross_entropy(discriminator(z:detach()), ohm.zeros(16, {dtype = ohm.int64, device = "cuda"})) + F.cross_entropy(discriminator(permuted), ohm.ones(16, {dtype = ohm.int64, device = "cuda"})))
  optimizer_d:zero_grad()
  d_loss:backward()
  optimizer:step()
  optimizer_d:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
discriminator = nil
optimizer = nil
optimizer_d = nil
x = nil
out = nil
mu = nil
logvar = nil
z = nil
reconstruction = nil
mi = nil
tc = nil
kl = nil
d = nil
factor = nil
loss = nil
z2 = nil
permuted = nil
d_loss = nil
mark("globals deleted")
