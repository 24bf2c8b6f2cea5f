-- Written by tests/differential/keep.py: do not edit.

--== amp_upsample_bilinear
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16):
--     y = F.interpolate(x.transpose(2, 3), scale_factor=2, mode="bilinear")
local x, y
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = F.interpolate(x:transpose(2, 3), {scale_factor = 2, mode = "bilinear"})
end
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== avg_pool2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.avg_pool2d(x.narrow(1, 2, 8), 2)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.avg_pool2d(x:narrow(1, 2, 8), 2)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== batch_norm_grad_transposed
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x).transpose(2, 3)
-- g = torch.ones(4, 8, 22, 18, device="cuda")
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x):transpose(2, 3)
g = ohm.ones(4, 8, 22, 18, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== batch_norm_of_narrow_na
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, affine=False, device="cuda")
-- y = m(x.narrow(1, 2, 8))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {affine = false, device = "cuda"})
y = m(x:narrow(1, 2, 8))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== bmm_ht_sum
-- x = torch.randn(28, 20, 12, device="cuda", requires_grad=True)
-- w = torch.randn(12, 28, 16, device="cuda", requires_grad=True)
-- y = torch.bmm(x.transpose(0, 2), w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(28, 20, 12, {device = "cuda", requires_grad = true})
w = ohm.randn(12, 28, 16, {device = "cuda", requires_grad = true})
y = ohm.bmm(x:transpose(0, 2), w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ce_sliced_target
-- x = torch.randn(4, 20, 12, device="cuda", requires_grad=True)
-- i = torch.zeros(4, 13, dtype=torch.long, device="cuda")
-- loss = F.cross_entropy(x, i[:, 1:])
-- loss.backward()
local x, i, loss
x = ohm.randn(4, 20, 12, {device = "cuda", requires_grad = true})
i = ohm.zeros(4, 13, {dtype = ohm.int64, device = "cuda"})
loss = F.cross_entropy(x, slice(slice(i, 0, 0), 1, 1))
loss:backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== clamp_of_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).clamp(min=0)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):clamp({min = 0})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== conv1d_of_transposed
-- x = torch.randn(12, 28, 20, device="cuda", requires_grad=True)
-- m = nn.Conv1d(20, 8, 3, padding=1, device="cuda")
-- y = m(x.transpose(1, 2))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(12, 28, 20, {device = "cuda", requires_grad = true})
m = nn.Conv1d(20, 8, 3, {padding = 1, device = "cuda"})
y = m(x:transpose(1, 2))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== conv2d_depthwise_sum
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda")
-- m(x).sum().backward()
local x, m
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
m(x):sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
mark("globals deleted")

--== conv2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- y = m(x.narrow(1, 2, 8))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
y = m(x:narrow(1, 2, 8))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== conv_transpose2d_groups
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1, groups=2, device="cuda")
-- y = m(x)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 4, {stride = 2, padding = 1, groups = 2, device = "cuda"})
y = m(x)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== convt_grad_slice
-- m = nn.ConvTranspose2d(16, 8, 2, stride=2, device="cuda")
-- x = torch.randn(2, 16, 16, 16, device="cuda", requires_grad=True)
-- s = torch.randn(2, 8, 32, 32, device="cuda")
-- y = torch.cat([m(x), s], dim=1)
-- y.sum().backward()
local m, x, s, y
m = nn.ConvTranspose2d(16, 8, 2, {stride = 2, device = "cuda"})
x = ohm.randn(2, 16, 16, 16, {device = "cuda", requires_grad = true})
s = ohm.randn(2, 8, 32, 32, {device = "cuda"})
y = ohm.cat({m(x), s}, {dim = 1})
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
s = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== convt_sum
-- m = nn.ConvTranspose2d(16, 8, 2, stride=2, device="cuda")
-- x = torch.randn(2, 16, 16, 16, device="cuda", requires_grad=True)
-- m(x).sum().backward()
local m, x
m = nn.ConvTranspose2d(16, 8, 2, {stride = 2, device = "cuda"})
x = ohm.randn(2, 16, 16, 16, {device = "cuda", requires_grad = true})
m(x):sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_sum
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- m(x).sum().backward()
local x, m
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
m(x):sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_then_cat
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 10, 3, padding=1, device="cuda")
-- y = torch.cat([x, m(x)], dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 10, 3, {padding = 1, device = "cuda"})
y = ohm.cat({x, m(x)}, {dim = 1})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cudnn_depthwise
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 8, 18, 22, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda")
-- y = m(x)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 8, 18, 22, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
y = m(x)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cudnn_patch_embed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 3, 32, 32, device="cuda")
-- m = nn.Conv2d(3, 48, 8, stride=8, device="cuda")
-- y = m(x).flatten(2).transpose(1, 2)
-- g = torch.ones(4, 16, 48, device="cuda")
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 3, 32, 32, {device = "cuda"})
m = nn.Conv2d(3, 48, 8, {stride = 8, device = "cuda"})
y = m(x):flatten(2):transpose(1, 2)
g = ohm.ones(4, 16, 48, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cumsum_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.cumsum(1).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:cumsum(1):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cumsum_of_narrow
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.narrow(1, 2, 10).cumsum(1)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:narrow(1, 2, 10):cumsum(1)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== dot_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.dot(F.linear(w.unsqueeze(0), x).squeeze(0), w)
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.dot(F.linear(w:unsqueeze(0), x):squeeze(0), w)
end
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== dropout_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.dropout(x, 0.5, True).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.dropout(x, 0.5, true):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== einsum_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.einsum("ij,jk->ik", F.linear(x, w), w)
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.einsum("ij,jk->ik", F.linear(x, w), w)
end
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== emb_sliced_ids
-- e = nn.Embedding(100, 16, device="cuda")
-- i = torch.zeros(4, 13, dtype=torch.long, device="cuda")
-- y = e(i[:, :-1])
-- y.sum().backward()
local e, i, y
e = nn.Embedding(100, 16, {device = "cuda"})
i = ohm.zeros(4, 13, {dtype = ohm.int64, device = "cuda"})
y = e(slice(slice(i, 0, 0), 1, 0, -1))
y:sum():backward()
mark("end of program (globals alive)")
e = nil; sweep()
i = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== flip_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.flip(1).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:flip(1):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== gather_saves_input
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- ids = torch.zeros(12, 3, 28, dtype=torch.long, device="cuda")
-- y = (x * 1.0).gather(1, ids)
-- t = torch.zeros(1000, device="cuda")
-- y.sum().backward()
local x, ids, y, t
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
ids = ohm.zeros(12, 3, 28, {dtype = ohm.int64, device = "cuda"})
y = (x * 1.0):gather(1, ids)
t = ohm.zeros(1000, {device = "cuda"})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
t = nil; sweep()
mark("globals deleted")

--== gelu_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.gelu(x.transpose(1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.gelu(x:transpose(1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== group_norm_bf16
-- x = torch.randn(12, 20, 28, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = F.group_norm(x, 4)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = F.group_norm(x, 4)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== group_norm_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.group_norm(x.narrow(1, 2, 8), 4)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.group_norm(x:narrow(1, 2, 8), 4)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== index_add_saves_source
-- x = torch.randn(50, 16, device="cuda", requires_grad=True)
-- i = torch.zeros(50, dtype=torch.long, device="cuda")
-- y = torch.zeros(10, 16, device="cuda").index_add(0, i, x * 1.0)
-- y.sum().backward()
local x, i, y
x = ohm.randn(50, 16, {device = "cuda", requires_grad = true})
i = ohm.zeros(50, {dtype = ohm.int64, device = "cuda"})
y = ohm.zeros(10, 16, {device = "cuda"}):index_add(0, i, x * 1.0)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- ids = torch.zeros(30, dtype=torch.long, device="cuda")
-- y = x[ids]
-- y.sum().backward()
local x, ids, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
ids = ohm.zeros(30, {dtype = ohm.int64, device = "cuda"})
y = x:index({ids})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== interpolate_bilinear_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.interpolate(x.narrow(1, 2, 8), scale_factor=2, mode="bilinear")
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.interpolate(x:narrow(1, 2, 8), {scale_factor = 2, mode = "bilinear"})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== kl_div_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = F.kl_div(F.linear(x, w), w, reduction="batchmean")
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.kl_div(F.linear(x, w), w, {reduction = "batchmean"})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== l1_loss_no_grad
-- x = torch.randn(12, 20, 28, device="cuda")
-- w = torch.randn(12, 20, 28, device="cuda")
-- y = F.l1_loss(x, w)
local x, w, y
x = ohm.randn(12, 20, 28, {device = "cuda"})
w = ohm.randn(12, 20, 28, {device = "cuda"})
y = F.l1_loss(x, w)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== masked_fill_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- m = torch.zeros(12, 28, 20, dtype=torch.bool, device="cuda")
-- y = x.transpose(1, 2).masked_fill(m, 0.0)
-- z = y.transpose(1, 2).contiguous()
local x, m, y, z
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
m = ohm.zeros(12, 28, 20, {dtype = ohm.bool, device = "cuda"})
y = x:transpose(1, 2):masked_fill(m, 0.0)
z = y:transpose(1, 2):contiguous()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== max_all_of_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).max()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):max()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== max_pool2d_of_narrow
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.narrow(1, 2, 8), 2)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:narrow(1, 2, 8), 2)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== maximum_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- w = torch.randn(12, 20, 28, device="cuda")
-- y = torch.maximum(x, w).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, w, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
w = ohm.randn(12, 20, 28, {device = "cuda"})
y = ohm.maximum(x, w):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== mul_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2) ** 2
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2) ^ 2
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== norm_p1_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = F.linear(x, w).norm(p=1, dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.linear(x, w):norm({p = 1, dim = 1})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== pad_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.pad(x, (1, 2)).transpose(1, 2)
-- g = torch.ones(12, 31, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.pad(x, {1, 2}):transpose(1, 2)
g = ohm.ones(12, 31, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== pixel_shuffle_of_narrow_sum
-- x = torch.randn(4, 12, 18, 22, device="cuda", requires_grad=True)
-- y = F.pixel_shuffle(x.narrow(1, 2, 8), 2)
-- y.sum().backward()
local x, y
x = ohm.randn(4, 12, 18, 22, {device = "cuda", requires_grad = true})
y = F.pixel_shuffle(x:narrow(1, 2, 8), 2)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== relu_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = F.relu(x).transpose(1, 2)
-- g = torch.ones(12, 28, 20, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = F.relu(x):transpose(1, 2)
g = ohm.ones(12, 28, 20, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== repeat_interleave_expanded
-- x = torch.randn(12, 1, 28, device="cuda", requires_grad=True)
-- y = x.expand(12, 20, 28).repeat_interleave(2, dim=1)
local x, y
x = ohm.randn(12, 1, 28, {device = "cuda", requires_grad = true})
y = x:expand(12, 20, 28):repeat_interleave(2, {dim = 1})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== repeat_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.repeat(2, 1, 1)
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x["repeat"](x, 2, 1, 1)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== roll_noncontig
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.transpose(1, 2).roll(2, 1)
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:transpose(1, 2):roll(2, 1)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== roll_one_dim_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.roll(2, 1)
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:roll(2, 1)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== roll_two_dims
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = torch.roll(x, shifts=(-1, -1), dims=(1, 2))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = ohm.roll(x, {shifts = {-1, -1}, dims = {1, 2}})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== sdpa_bool_mask
-- q = torch.randn(2, 4, 20, 32, device="cuda")
-- m = torch.zeros(20, 20, dtype=torch.bool, device="cuda")
-- y = F.scaled_dot_product_attention(q, q, q, m)
local q, m, y
q = ohm.randn(2, 4, 20, 32, {device = "cuda"})
m = ohm.zeros(20, 20, {dtype = ohm.bool, device = "cuda"})
y = F.scaled_dot_product_attention(q, q, q, m)
mark("end of program (globals alive)")
q = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== sigmoid_of_transposed_sum
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = torch.sigmoid(x.transpose(1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = ohm.sigmoid(x:transpose(1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== square_autocast
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- w = torch.randn(64, 64, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     y = torch.square(F.linear(x, w))
local x, w, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, 64, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.square(F.linear(x, w))
end
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== std_grad_transposed
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.std(dim=2).transpose(0, 1)
-- g = torch.ones(20, 12, device="cuda")
-- y.backward(g)
local x, y, g
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = x:std({dim = 2}):transpose(0, 1)
g = ohm.ones(20, 12, {device = "cuda"})
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== topk_of_narrow
-- x = torch.randn(12, 20, 28, device="cuda", requires_grad=True)
-- y = x.narrow(1, 2, 10).topk(5, dim=2)[0]
local x, y
x = ohm.randn(12, 20, 28, {device = "cuda", requires_grad = true})
y = (x:narrow(1, 2, 10):topk(5, {dim = 2}))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== tr_encoder_mask
-- l = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, device="cuda")
-- net = nn.TransformerEncoder(l, 1)
-- m = torch.zeros(12, 12, dtype=torch.bool, device="cuda")
-- x = torch.randn(4, 12, 32, device="cuda")
-- y = net(x, m)
local l, net, m, x, y
l = nn.TransformerEncoderLayer(32, 4, 64, 0.0, {batch_first = true, device = "cuda"})
net = nn.TransformerEncoder(l, 1)
m = ohm.zeros(12, 12, {dtype = ohm.bool, device = "cuda"})
x = ohm.randn(4, 12, 32, {device = "cuda"})
y = net(x, m)
mark("end of program (globals alive)")
l = nil; sweep()
net = nil; sweep()
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== abs_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.abs_()
-- v.sum().backward()
local x, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:abs_()
v:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== adaptive_avg_pool2d_of_channels_last
-- x = torch.randn(2, 6, 9, 8, device="cuda", requires_grad=True)
-- y = F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 3)
-- layout(y)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 6, 9, 8, {device = "cuda", requires_grad = true})
y = F.adaptive_avg_pool2d(x:permute(0, 3, 1, 2), 3)
layout(y)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== adaptive_avg_pool2d_to_one_of_channels_last
-- x = torch.randn(4, 8, 8, 8, device="cuda", requires_grad=True)
-- y = F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(4, 8, 8, 8, {device = "cuda", requires_grad = true})
y = F.adaptive_avg_pool2d(x:permute(0, 3, 1, 2), 1)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== addcmul_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- w = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.addcmul_(w, w)
-- v.sum().backward()
local x, w, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:addcmul_(w, w)
v:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== amin_of_channels_last
-- x = torch.randn(7, 16, 16, 8, device="cuda", requires_grad=True)
-- y = x.permute(0, 3, 1, 2).amin(dim=0)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(7, 16, 16, 8, {device = "cuda", requires_grad = true})
y = x:permute(0, 3, 1, 2):amin({dim = 0})
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== amp_norm_of_one_column
-- x = torch.randn(2, 1, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16): y = x.norm(dim=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(2, 1, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = x:norm({dim = 1})
end
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== amp_square_of_narrow
-- x = torch.randn(16, 5, 3, device="cuda", dtype=torch.float16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16): y = torch.square(x.narrow(2, 1, 2).transpose(0, 1))
-- layout(y)
local x, y
x = ohm.randn(16, 5, 3, {device = "cuda", dtype = ohm.float16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = ohm.square(x:narrow(2, 1, 2):transpose(0, 1))
end
layout(y)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== avg_pool1d_of_channels_last
-- x = torch.randn(2, 7, 8, device="cuda", requires_grad=True)
-- y = F.avg_pool1d(x.transpose(2, 1), 2)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 7, 8, {device = "cuda", requires_grad = true})
y = F.avg_pool1d(x:transpose(2, 1), 2)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== avg_pool2d_of_channels_last
-- x = torch.randn(2, 9, 9, 8, device="cuda", requires_grad=True)
-- y = F.avg_pool2d(x.permute(0, 3, 1, 2), 2)
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, y, z
x = ohm.randn(2, 9, 9, 8, {device = "cuda", requires_grad = true})
y = F.avg_pool2d(x:permute(0, 3, 1, 2), 2)
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== batch_norm_of_channels_last
-- x = torch.randn(2, 8, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(2, 8, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== batch_norm_of_channels_last_na
-- x = torch.randn(2, 7, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, affine=False, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, m, y, z
x = ohm.randn(2, 7, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {affine = false, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== batch_norm_of_channels_last_eval
-- x = torch.randn(2, 7, 6, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda").eval()
-- y = m(x.permute(0, 3, 1, 2))
-- y.sum().backward()
local x, m, y
x = ohm.randn(2, 7, 6, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"}):eval()
y = m(x:permute(0, 3, 1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== batch_norm_of_expanded_bfloat16
-- x = torch.randn(4, 1, 7, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- m = nn.BatchNorm1d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x.expand(4, 8, 7))
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
x = ohm.randn(4, 1, 7, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
m = nn.BatchNorm1d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x:expand(4, 8, 7))
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== bce_with_logits_target_gradient
-- x = torch.randn(7, 16, device="cuda")
-- w = torch.randn(7, 16, device="cuda", requires_grad=True)
-- y = F.binary_cross_entropy_with_logits(x, w)
-- y.backward()
local x, w, y
x = ohm.randn(7, 16, {device = "cuda"})
w = ohm.randn(7, 16, {device = "cuda", requires_grad = true})
y = F.binary_cross_entropy_with_logits(x, w)
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cat_of_channels_last
-- x = torch.randn(3, 16, 7, 2, device="cuda", requires_grad=True)
-- y = x.permute(0, 3, 1, 2).flip((0,))
-- z = torch.cat([y, y], dim=-1)
-- layout(z)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(3, 16, 7, 2, {device = "cuda", requires_grad = true})
y = x:permute(0, 3, 1, 2):flip({0})
z = ohm.cat({y, y}, {dim = -1})
layout(z)
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_batch_norm_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 8, 7, 8, device="cuda", requires_grad=True)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 8, 7, 8, {device = "cuda", requires_grad = true})
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_conv1d_of_transposed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 6, 8, device="cuda", requires_grad=True)
-- m = nn.Conv1d(8, 6, 3, padding=1, device="cuda")
-- y = m(x.permute(0, 2, 1))
-- layout(y)
-- z = y * 2.0
-- z.mean().backward()
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 6, 8, {device = "cuda", requires_grad = true})
m = nn.Conv1d(8, 6, 3, {padding = 1, device = "cuda"})
y = m(x:permute(0, 2, 1))
layout(y)
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 9, 9, 8, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, stride=2, groups=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, m, y, g
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 9, 9, 8, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 8, 3, {stride = 2, groups = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_of_channels_last_transposed_gradient
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 9, 9, 8, device="cuda", requires_grad=True)
-- m = nn.Conv2d(8, 6, 3, dilation=2, padding=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 9, 9, 8, {device = "cuda", requires_grad = true})
m = nn.Conv2d(8, 6, 3, {dilation = 2, padding = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_of_channels_last_double
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 9, 9, 8, device="cuda", dtype=torch.float64, requires_grad=True)
-- m = nn.Conv2d(8, 6, 3, device="cuda", dtype=torch.float64)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 9, 9, 8, {device = "cuda", dtype = ohm.float64, requires_grad = true})
m = nn.Conv2d(8, 6, 3, {device = "cuda", dtype = ohm.float64})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_conv2d_depthwise_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 9, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.Conv2d(8, 8, 3, padding=1, groups=8, device="cuda", dtype=torch.float16)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 9, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.Conv2d(8, 8, 3, {padding = 1, groups = 8, device = "cuda", dtype = ohm.float16})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_conv_transpose2d_of_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(4, 6, 8, 8, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 4, stride=2, groups=2, device="cuda")
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(4, 6, 8, 8, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 4, {stride = 2, groups = 2, device = "cuda"})
y = m(x:permute(0, 3, 1, 2))
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_conv_transpose2d_of_transposed
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(6, 8, 9, 2, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose2d(8, 6, 2, stride=2, device="cuda")
-- y = m(x.transpose(0, 3))
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, m, y, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(6, 8, 9, 2, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose2d(8, 6, 2, {stride = 2, device = "cuda"})
y = m(x:transpose(0, 3))
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== dropout_of_channels_last
-- x = torch.randn(2, 9, 8, 8, device="cuda", requires_grad=True)
-- y = F.dropout(x.permute(0, 3, 1, 2), 0.5, True)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(2, 9, 8, 8, {device = "cuda", requires_grad = true})
y = F.dropout(x:permute(0, 3, 1, 2), 0.5, true)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== dropout2d_module
-- x = torch.randn(4, 8, 6, 6, device="cuda", requires_grad=True)
-- m = nn.Dropout2d(0.5)
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 8, 6, 6, {device = "cuda", requires_grad = true})
m = nn.Dropout2d(0.5)
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== floor_of_one_element
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = torch.floor(x)
-- y.sum().backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = ohm.floor(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== group_norm_of_channels_last
-- x = torch.randn(4, 6, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.GroupNorm(2, 8, device="cuda", dtype=torch.float16)
-- y = m(x.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 6, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.GroupNorm(2, 8, {device = "cuda", dtype = ohm.float16})
y = m(x:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== group_norm_of_narrow_na
-- x = torch.randn(8, 4, 10, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.GroupNorm(2, 8, affine=False)
-- y = m(x.narrow(2, 1, 9).transpose(0, 1))
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 4, 10, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.GroupNorm(2, 8, {affine = false})
y = m(x:narrow(2, 1, 9):transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_add_of_transposed
-- x = torch.randn(5, 8, 17, device="cuda", requires_grad=True)
-- v = x.narrow(2, 1, 16).transpose(0, 1)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = v.index_add(0, line, v.narrow(0, 0, 1))
-- layout(y)
-- y.sum().backward()
local x, v, line, y
x = ohm.randn(5, 8, 17, {device = "cuda", requires_grad = true})
v = x:narrow(2, 1, 16):transpose(0, 1)
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = v:index_add(0, line, v:narrow(0, 0, 1))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
line = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_of_transposed
-- x = torch.randn(5, 3, 16, 16, device="cuda", requires_grad=True)
-- line = torch.zeros(2, dtype=torch.long, device="cuda")
-- v = x.transpose(2, 1)
-- y = v[line]
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, v, y, g
x = ohm.randn(5, 3, 16, 16, {device = "cuda", requires_grad = true})
line = ohm.zeros(2, {dtype = ohm.int64, device = "cuda"})
v = x:transpose(2, 1)
y = v:index({line})
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
line = nil; sweep()
v = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== instance_norm_of_transposed
-- x = torch.randn(8, 3, 9, device="cuda", requires_grad=True)
-- m = nn.InstanceNorm1d(8, device="cuda")
-- y = m(x.narrow(2, 1, 8).transpose(0, 1))
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 3, 9, {device = "cuda", requires_grad = true})
m = nn.InstanceNorm1d(8, {device = "cuda"})
y = m(x:narrow(2, 1, 8):transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== lerp_in_place
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- w = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.lerp_(w, 0.25)
-- v.sum().backward()
local x, w, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:lerp_(w, 0.25)
v:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== logsigmoid_of_channels_last
-- x = torch.randn(8, 7, 3, 3, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.logsigmoid(x.permute(0, 3, 1, 2))
-- y.sum().backward()
local x, y
x = ohm.randn(8, 7, 3, 3, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.logsigmoid(x:permute(0, 3, 1, 2))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== matmul_of_one_column
-- x = torch.randn(8, 1, 1, 8, device="cuda", requires_grad=True)
-- w = torch.randn(10, 8, 1, 1, device="cuda", requires_grad=True)
-- y = torch.matmul(x.permute(0, 3, 1, 2).transpose(-2, -1), w.narrow(0, 1, 8))
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 1, 1, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(10, 8, 1, 1, {device = "cuda", requires_grad = true})
y = ohm.matmul(x:permute(0, 3, 1, 2):transpose(-2, -1), w:narrow(0, 1, 8))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== matmul_of_nothing
-- x = torch.randn(2, 3, 0, device="cuda", requires_grad=True)
-- w = torch.randn(2, 0, 4, device="cuda", requires_grad=True)
-- y = torch.matmul(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(2, 3, 0, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 0, 4, {device = "cuda", requires_grad = true})
y = ohm.matmul(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== max_pool2d_of_channels_last
-- x = torch.randn(2, 6, 6, 8, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.permute(0, 3, 1, 2), 3, stride=1)
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 6, 6, 8, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:permute(0, 3, 1, 2), 3, {stride = 1})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== max_pool2d_of_expanded
-- x = torch.randn(1, 8, 7, 9, device="cuda", requires_grad=True)
-- y = F.max_pool2d(x.expand(4, 8, 7, 9), 2)
-- y.sum().backward()
local x, y
x = ohm.randn(1, 8, 7, 9, {device = "cuda", requires_grad = true})
y = F.max_pool2d(x:expand(4, 8, 7, 9), 2)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== maximum_of_transposed
-- x = torch.randn(7, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, 7, device="cuda", requires_grad=True)
-- y = torch.maximum(x.transpose(1, 0), w)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, w, y, z
x = ohm.randn(7, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, 7, {device = "cuda", requires_grad = true})
y = ohm.maximum(x:transpose(1, 0), w)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== neg_in_place_then_written
-- x = torch.randn(4, 6, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.neg_()
-- v.add_(1.0)
-- v.sum().backward()
local x, v
x = ohm.randn(4, 6, {device = "cuda", requires_grad = true})
v = x * 1.5
v:neg_()
v:add_(1.0)
v:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== norm_of_transposed_rows
-- x = torch.randn(7, 2, 3, 8, device="cuda", requires_grad=True)
-- y = x.transpose(3, 1).norm(dim=1)
-- z = y * 2.0
-- z.mean().backward()
local x, y, z
x = ohm.randn(7, 2, 3, 8, {device = "cuda", requires_grad = true})
y = x:transpose(3, 1):norm({dim = 1})
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== pad_of_channels_last
-- x = torch.randn(3, 5, 8, 5, device="cuda", requires_grad=True)
-- y = F.pad(x.permute(0, 3, 1, 2), (1, 2))
-- layout(y)
-- z = F.pad(y, (-1, 0))
-- g = torch.ones_like(z)
-- z.backward(g)
local x, y, z, g
x = ohm.randn(3, 5, 8, 5, {device = "cuda", requires_grad = true})
y = F.pad(x:permute(0, 3, 1, 2), {1, 2})
layout(y)
z = F.pad(y, {-1, 0})
g = ohm.ones_like(z)
z:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== pow_of_tensors_keeps_result
-- x = torch.randn(5, 5, device="cuda", requires_grad=True)
-- w = torch.randn(5, 5, device="cuda")
-- y = torch.pow(x, w)
-- y = F.relu(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 5, {device = "cuda"})
y = ohm.pow(x, w)
y = F.relu(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== scatter_add_of_transposed
-- x = torch.randn(5, 3, device="cuda", requires_grad=True)
-- w = torch.randn(5, 3, device="cuda")
-- ids = torch.zeros(3, 5, dtype=torch.long, device="cuda")
-- y = x.transpose(1, 0).scatter_add(0, ids, w.transpose(1, 0))
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, w, ids, y, z
x = ohm.randn(5, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 3, {device = "cuda"})
ids = ohm.zeros(3, 5, {dtype = ohm.int64, device = "cuda"})
y = x:transpose(1, 0):scatter_add(0, ids, w:transpose(1, 0))
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== softshrink_of_one_row
-- x = torch.randn(2, 5, 1, 3, device="cuda", requires_grad=True)
-- y = F.softshrink(x.transpose(3, 1))
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 5, 1, 3, {device = "cuda", requires_grad = true})
y = F.softshrink(x:transpose(3, 1))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== sum_over_one_row
-- x = torch.randn(1, 3, 16, 5, device="cuda", requires_grad=True)
-- y = x.sum(dim=0)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(1, 3, 16, 5, {device = "cuda", requires_grad = true})
y = x:sum({dim = 0})
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== upsample_bilinear_of_channels_last
-- x = torch.randn(2, 8, 6, 8, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="bilinear")
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 8, 6, 8, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2, mode = "bilinear"})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== upsample_nearest_of_channels_last
-- x = torch.randn(2, 8, 6, 8, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2)
-- layout(y)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(2, 8, 6, 8, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2})
layout(y)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== upsample_nearest_of_few_channels_last
-- x = torch.randn(2, 8, 6, 3, device="cuda", requires_grad=True)
-- y = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 6, 3, {device = "cuda", requires_grad = true})
y = F.interpolate(x:permute(0, 3, 1, 2), {scale_factor = 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== angle_and_its_gradient
-- x = torch.randn(7, 5, device="cuda", requires_grad=True)
-- w = torch.randn(7, 5, device="cuda", requires_grad=True)
-- y = torch.atan2(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
y = ohm.atan2(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== copy_over_transposed
-- x0 = torch.randn(2, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- w0 = torch.randn(16, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- v = x0.transpose(0, 1) * 1.5
-- v.copy_(w0.expand(16, 2))
-- z = v.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, w0, v, z
x0 = ohm.randn(2, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
w0 = ohm.randn(16, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = x0:transpose(0, 1) * 1.5
v:copy_(w0:expand(16, 2))
z = v:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
w0 = nil; sweep()
v = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== copies_that_are_let_go
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.sub_(w)
-- v.copy_(w)
-- del x
-- del w
-- del v
local x, w, v
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:sub_(w)
v:copy_(w)
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
mark("end of program (globals alive)")
mark("globals deleted")

--== std_of_one_number
-- x = torch.randn(1, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = x.std()
-- y.backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = x:std()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== var_of_nothing
-- x = torch.randn(3, 0, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = x.var()
-- y.backward()
local x, y
x = ohm.randn(3, 0, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = x:var()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== written_slice_of_detached
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = torch.randn(100, 16, device="cuda")
-- a = v.narrow(1, 3, 4).detach()
-- a.transpose(0, 1).mul_(x.narrow(1, 0, 4).transpose(0, 1))
-- a.sum().backward()
local x, v, a
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = ohm.randn(100, 16, {device = "cuda"})
a = v:narrow(1, 3, 4):detach()
a:transpose(0, 1):mul_(x:narrow(1, 0, 4):transpose(0, 1))
a:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
a = nil; sweep()
mark("globals deleted")

--== written_slices
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.narrow(0, 0, 5).mul_(w)
-- v.select(0, 3).add_(w)
-- s = v.sum()
-- s.backward(retain_graph=True)
-- a = torch.autograd.grad(s, w)
local x, w, v, s, a
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:narrow(0, 0, 5):mul_(w)
v:select(0, 3):add_(w)
s = v:sum()
s:backward({retain_graph = true})
a = ohm.autograd.grad(s, w)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
s = nil; sweep()
a = nil; sweep()
mark("globals deleted")

--== written_slices_that_are_let_go
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.select(0, 0).add_(w)
-- v.select(0, 1).copy_(w)
-- del x
-- del w
-- del v
local x, w, v
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(16, {device = "cuda", requires_grad = true})
v = x * 1.5
v:select(0, 0):add_(w)
v:select(0, 1):copy_(w)
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
mark("end of program (globals alive)")
mark("globals deleted")

--== views_of_a_written_base
-- x = torch.randn(100, 16, device="cuda", requires_grad=True)
-- w = torch.randn(100, 16, device="cuda", requires_grad=True)
-- v = x * 1.5
-- a = v.transpose(0, 1)
-- c = v.unsqueeze(0).expand(3, 100, 16)
-- v.mul_(w)
-- b = v.narrow(0, 3, 10).narrow(1, 2, 4)
-- b.sigmoid_()
-- s = c.sum() + b.sum()
-- s.backward()
local x, w, v, a, c, b, s
x = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(100, 16, {device = "cuda", requires_grad = true})
v = x * 1.5
a = v:transpose(0, 1)
c = v:unsqueeze(0):expand(3, 100, 16)
v:mul_(w)
b = v:narrow(0, 3, 10):narrow(1, 2, 4)
b:sigmoid_()
s = c:sum() + b:sum()
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
v = nil; sweep()
a = nil; sweep()
c = nil; sweep()
b = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== sum_of_repeated_and_transposed
-- w = torch.randn(5, 2, device="cuda", requires_grad=True)
-- g = torch.randn(2, 5, device="cuda")
-- y = w.expand(5, 2)
-- z = w.sum()
-- torch.autograd.backward([y, z], [g.transpose(0, 1), torch.ones_like(z)])
local w, g, y, z
w = ohm.randn(5, 2, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 5, {device = "cuda"})
y = w:expand(5, 2)
z = w:sum()
ohm.autograd.backward({y, z}, {g:transpose(0, 1), ohm.ones_like(z)})
mark("end of program (globals alive)")
w = nil; sweep()
g = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== amp_losses_of_half_precision
-- x = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- w = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = F.huber_loss(x, w) + F.binary_cross_entropy_with_logits(x, w)
-- y.backward()
local x, w, y
x = ohm.randn(8, 16, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
w = ohm.randn(8, 16, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = F.huber_loss(x, w) + F.binary_cross_entropy_with_logits(x, w)
end
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== linear_then_relu_in_place
-- x = torch.randn(8, 4, 48, device="cuda", requires_grad=True)
-- m = nn.Linear(48, 96, device="cuda")
-- y = F.relu(m(x), inplace=True)
-- y.sum().backward()
local x, m, y
x = ohm.randn(8, 4, 48, {device = "cuda", requires_grad = true})
m = nn.Linear(48, 96, {device = "cuda"})
y = F.relu(m(x), {inplace = true})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_behind_a_slice
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 2, 0], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[:, i, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 2, 0}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = slice(x, 0, 0):index({i, j}, {1, 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
j = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_around_a_slice
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 2, 0], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[i, :, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 2, 0}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = slice(x, 1, 0):index({i, j}, {0, 2})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
j = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_by_row_and_column
-- x = torch.randn(6, 7, 8, device="cuda", requires_grad=True)
-- i = torch.tensor([[1], [2]], device="cuda")
-- j = torch.tensor([0, 3, 4], device="cuda")
-- y = x[i, j]
-- layout(y)
-- y.sum().backward()
local x, i, j, y
x = ohm.randn(6, 7, 8, {device = "cuda", requires_grad = true})
i = ohm.tensor({{1}, {2}}, {device = "cuda"})
j = ohm.tensor({0, 3, 4}, {device = "cuda"})
y = x:index({i, j})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
j = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== number_to_the_power_of_a_temporary
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- y = 2 ** (x * 3)
-- y.sum().backward()
local x, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
y = 2 ^ (x * 3)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== zero_to_the_power
-- x = torch.randn(64, 64, device="cuda", requires_grad=True)
-- y = 0 ** x
-- y.sum().backward()
local x, y
x = ohm.randn(64, 64, {device = "cuda", requires_grad = true})
y = 0 ^ x
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== transposed_to_half_on_gpu
-- x = torch.randn(64, 32).t()
-- y = x.to("cuda", torch.float16)
-- layout(y)
local x, y
x = ohm.randn(64, 32):t()
y = x:to("cuda", ohm.float16)
layout(y)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== channels_last_and_back
-- x = torch.randn(2, 3, 4, 5, device="cuda", requires_grad=True)
-- y = x.contiguous(memory_format=torch.channels_last)
-- layout(y)
-- z = F.relu(y) * 2
-- layout(z)
-- z.sum().backward()
-- w = z.detach().to("cpu", memory_format=torch.contiguous_format)
local x, y, z, w
x = ohm.randn(2, 3, 4, 5, {device = "cuda", requires_grad = true})
y = x:contiguous({memory_format = ohm.channels_last})
layout(y)
z = F.relu(y) * 2
layout(z)
z:sum():backward()
w = z:detach():to("cpu", {memory_format = ohm.contiguous_format})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
w = nil; sweep()
mark("globals deleted")

--== channels_last_to_half_on_gpu
-- x = torch.randn(2, 3, 4, 5)
-- y = x.to("cuda", torch.float16, memory_format=torch.channels_last)
-- layout(y)
local x, y
x = ohm.randn(2, 3, 4, 5)
y = x:to("cuda", ohm.float16, {memory_format = ohm.channels_last})
layout(y)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== channels_last_convolution
-- m = nn.Conv2d(3, 8, 3, padding=1).to("cuda", memory_format=torch.channels_last)
-- x = torch.randn(2, 3, 10, 12, device="cuda").to(memory_format=torch.channels_last)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
-- layout(m.weight.grad)
local m, x, y
m = nn.Conv2d(3, 8, 3, {padding = 1}):to("cuda", {memory_format = ohm.channels_last})
x = ohm.randn(2, 3, 10, 12, {device = "cuda"}):to({memory_format = ohm.channels_last})
y = m(x)
layout(y)
y:sum():backward()
layout(m.weight.grad)
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== channels_last_convolution_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(3, 8, 3, padding=1).to("cuda", memory_format=torch.channels_last)
-- x = torch.randn(2, 3, 10, 12, device="cuda").to(memory_format=torch.channels_last)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
-- layout(m.weight.grad)
local m, x, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(3, 8, 3, {padding = 1}):to("cuda", {memory_format = ohm.channels_last})
x = ohm.randn(2, 3, 10, 12, {device = "cuda"}):to({memory_format = ohm.channels_last})
y = m(x)
layout(y)
y:sum():backward()
layout(m.weight.grad)
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_mean
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n)
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_zero_infinity
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, reduction="sum", zero_infinity=True)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {reduction = "sum", zero_infinity = true})
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_of_int32_on_the_host
-- x = torch.randn(12, 4, 9, device="cuda", requires_grad=True)
-- t = torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=torch.int32)
-- n = torch.tensor([2, 2, 1, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, reduction="none")
-- y.sum().backward()
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda", requires_grad = true})
t = ohm.tensor({{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {dtype = ohm.int32})
n = ohm.tensor({2, 2, 1, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {reduction = "none"})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_of_sliced_targets
-- x = torch.randn(4, 12, 9, device="cuda", requires_grad=True)
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([2, 2, 1, 3])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.transpose(0, 1), t[:, 1:4], m, n)
-- y.backward()
local x, t, n, m, y
x = ohm.randn(4, 12, 9, {device = "cuda", requires_grad = true})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({2, 2, 1, 3})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:transpose(0, 1), slice(slice(t, 0, 0), 1, 1, 4), m, n)
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_without_graph
-- x = torch.randn(12, 4, 9, device="cuda")
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n)
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda"})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n)
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== ctc_loss_zero_infinity_without_graph
-- x = torch.randn(12, 4, 9, device="cuda")
-- t = torch.randint(1, 9, (4, 5), device="cuda")
-- n = torch.tensor([5, 3, 4, 2])
-- m = torch.tensor([12, 12, 10, 9])
-- y = F.ctc_loss(x.log_softmax(2), t, m, n, zero_infinity=True)
local x, t, n, m, y
x = ohm.randn(12, 4, 9, {device = "cuda"})
t = ohm.randint(1, 9, {4, 5}, {device = "cuda"})
n = ohm.tensor({5, 3, 4, 2})
m = ohm.tensor({12, 12, 10, 9})
y = F.ctc_loss(x:log_softmax(2), t, m, n, {zero_infinity = true})
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
n = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== floor_divide_of_a_number
-- x = torch.rand(8, 8, device="cuda") + 1
-- y = 7 // x
-- z = y // 2
local x, y, z
x = ohm.rand(8, 8, {device = "cuda"}) + 1
y = 7 // x
z = y // 2
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== amax_of_a_gradient_laid_out_otherwise
-- x0 = torch.randn(16, 1, 1, 8, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.amax(dim=1)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(16, 1, 1, 8, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = x:amax({dim = 1})
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prod_of_a_gradient_laid_out_otherwise
-- x = torch.randn(3, 1, 1, 7, device="cuda", requires_grad=True)
-- y = x.prod(dim=1)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(3, 1, 1, 7, {device = "cuda", requires_grad = true})
y = x:prod({dim = 1})
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== leaky_relu_of_a_gradient_laid_out_otherwise
-- x0 = torch.randn(3, 8, 7, device="cuda", requires_grad=True)
-- x = x0.permute(0, 2, 1)
-- y = F.leaky_relu(x)
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(3, 8, 7, {device = "cuda", requires_grad = true})
x = x0:permute(0, 2, 1)
y = F.leaky_relu(x)
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== batch_norm_channels_last_of_a_row_major_gradient
-- x0 = torch.randn(4, 6, 6, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- m = nn.BatchNorm2d(8, device="cuda")
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(4, 6, 6, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
m = nn.BatchNorm2d(8, {device = "cuda"})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== nll_loss_of_lines_without_reduction
-- x = torch.randn(3, 7, 5, device="cuda", requires_grad=True)
-- t = torch.randint(7, (3, 5), device="cuda")
-- y = F.nll_loss(x, t, reduction="none")
local x, t, y
x = ohm.randn(3, 7, 5, {device = "cuda", requires_grad = true})
t = ohm.randint(7, {3, 5}, {device = "cuda"})
y = F.nll_loss(x, t, {reduction = "none"})
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_of_no_elements
-- x = torch.randn(3, 1, 0, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, y, g
x = ohm.randn(3, 1, 0, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
line = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== index_by_no_rows
-- x = torch.randn(3, 1, 4, device="cuda", requires_grad=True)
-- line = torch.zeros(0, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.ones_like(y)
-- y.backward(g)
local x, line, y, g
x = ohm.randn(3, 1, 4, {device = "cuda", requires_grad = true})
line = ohm.zeros(0, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
line = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== attention_in_half_precision
-- x = torch.randn(4, 3, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, device="cuda", dtype=torch.float16)
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(4, 3, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = nn.TransformerEncoderLayer(8, 2, 16, {batch_first = true, device = "cuda", dtype = ohm.float16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_without_graph
-- x = torch.randn(3, 4, 8, device="cuda")
-- k = torch.randn(5, 4, 8, device="cuda")
-- m = nn.MultiheadAttention(8, 2, device="cuda")
-- with torch.no_grad(): y = m(x, k, k)[0]
local x, k, m, y
x = ohm.randn(3, 4, 8, {device = "cuda"})
k = ohm.randn(5, 4, 8, {device = "cuda"})
m = nn.MultiheadAttention(8, 2, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, k, k)[1]
end
mark("end of program (globals alive)")
x = nil; sweep()
k = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== overwritten_before_deleted
-- v0 = torch.randn(2, 5, device="cuda", requires_grad=True)
-- v1 = torch.randn(2, 5, device="cuda", requires_grad=True)
-- v3 = v1.transpose(0, 1).contiguous().transpose(0, 1)
-- v3 = v3 * 1.5
-- del v0
local v0, v1, v3
v0 = ohm.randn(2, 5, {device = "cuda", requires_grad = true})
v1 = ohm.randn(2, 5, {device = "cuda", requires_grad = true})
v3 = v1:transpose(0, 1):contiguous():transpose(0, 1)
v3 = v3 * 1.5
v0 = nil; sweep()
mark("end of program (globals alive)")
v1 = nil; sweep()
v3 = nil; sweep()
mark("globals deleted")

--== overwritten_by_a_call
-- v0 = torch.randn(2, 5, device="cuda")
-- v1 = torch.randn(2, 5, device="cuda")
-- v1 = F.relu(v0)
-- del v0
local v0, v1
v0 = ohm.randn(2, 5, {device = "cuda"})
v1 = ohm.randn(2, 5, {device = "cuda"})
v1 = F.relu(v0)
v0 = nil; sweep()
mark("end of program (globals alive)")
v1 = nil; sweep()
mark("globals deleted")

--== normalize_of_a_temporary
-- x = torch.randn(8, 5, device="cuda")
-- y = F.normalize(x + 1.0, dim=1)
local x, y
x = ohm.randn(8, 5, {device = "cuda"})
y = F.normalize(x + 1.0, {dim = 1})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_causal
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, y, g
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {is_causal = true})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cudnn_attention_bias
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.zeros(32, 32, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.zeros(32, 32, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_bool_mask
-- q = torch.randn(2, 4, 33, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.ones(33, 33, device="cuda", dtype=torch.bool)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, m, y, g
q = ohm.randn(2, 4, 33, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.ones(33, 33, {device = "cuda", dtype = ohm.bool})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== cudnn_attention_transposed_narrow_values
-- q = torch.randn(2, 32, 4, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- k = torch.randn(2, 48, 4, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- v = torch.randn(2, 48, 4, 32, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
-- z = y.transpose(1, 2).reshape(2, 32, 128)
-- z.sum().backward()
local q, k, v, y, z
q = ohm.randn(2, 32, 4, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(2, 48, 4, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
v = ohm.randn(2, 48, 4, 32, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q:transpose(1, 2), k:transpose(1, 2), v:transpose(1, 2))
z = y:transpose(1, 2):reshape(2, 32, 128)
z:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
k = nil; sweep()
v = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_attention_no_grad
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q)
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q)
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_256
-- q = torch.randn(2, 4, 32, 256, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 256, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_192
-- q = torch.randn(2, 4, 32, 192, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 192, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_192_no_grad
-- q = torch.randn(2, 4, 32, 192, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q)
local q, y
q = ohm.randn(2, 4, 32, 192, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q)
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_quarter_dropped
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.25)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.25})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_tenth_dropped
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.1})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_one_key
-- q = torch.randn(2, 4, 1, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 4, 1, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_packed_autocast
-- x = torch.randn(2, 32, 128, device="cuda", requires_grad=True)
-- l = nn.Linear(128, 384, device="cuda")
-- with torch.autocast("cuda", dtype=torch.float16):
--     h = l(x).view(2, 32, 3, 4, 32).permute(2, 0, 3, 1, 4)
--     y = F.scaled_dot_product_attention(h[0], h[1], h[2], is_causal=True).transpose(1, 2).reshape(2, 32, 128)
-- y.sum().backward()
local x, l, h, y
x = ohm.randn(2, 32, 128, {device = "cuda", requires_grad = true})
l = nn.Linear(128, 384, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  h = l(x):view(2, 32, 3, 4, 32):permute(2, 0, 3, 1, 4)
  y = F.scaled_dot_product_attention(h:select(0, 0), h:select(0, 1), h:select(0, 2), {is_causal = true}):transpose(1, 2):reshape(2, 32, 128)
end
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
l = nil; sweep()
h = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_mask_gradient
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- m = torch.zeros(2, 4, 32, 32, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
m = ohm.zeros(2, 4, 32, 32, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_attention_value_gradient
-- q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16)
-- v = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, v)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, v, y, g
q = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16})
v = ohm.randn(2, 4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, v)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil; sweep()
v = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== attention_3d_half
-- q = torch.randn(4, 32, 64, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q)
-- g = torch.ones_like(y)
-- y.backward(g)
local q, y, g
q = ohm.randn(4, 32, 64, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== attention_3d_bias
-- q = torch.randn(4, 32, 64, device="cuda", requires_grad=True)
-- m = torch.randn(4, 32, 32, device="cuda")
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=m)
-- y.sum().backward()
local q, m, y
q = ohm.randn(4, 32, 64, {device = "cuda", requires_grad = true})
m = ohm.randn(4, 32, 32, {device = "cuda"})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = m})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_3d_dropped
-- q = torch.randn(4, 32, 64, device="cuda", dtype=torch.float64, requires_grad=True)
-- k = torch.randn(4, 16, 64, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = F.scaled_dot_product_attention(q.transpose(1, 2).contiguous().transpose(1, 2), k, k, dropout_p=0.5)
-- y.sum().backward()
local q, k, y
q = ohm.randn(4, 32, 64, {device = "cuda", dtype = ohm.float64, requires_grad = true})
k = ohm.randn(4, 16, 64, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = F.scaled_dot_product_attention(q:transpose(1, 2):contiguous():transpose(1, 2), k, k, {dropout_p = 0.5})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
k = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== remainder_gradient
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(7, device="cuda", requires_grad=True)
-- y = x % w
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(7, {device = "cuda", requires_grad = true})
y = x % w
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== remainder_of_number
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- y = 2.0 % x
-- del x
local x, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
y = 2.0 % x
x = nil; sweep()
mark("end of program (globals alive)")
y = nil; sweep()
mark("globals deleted")

--== floor_divide_is_recorded
-- x = torch.randn(64, device="cuda", requires_grad=True)
-- w = torch.randn(64, device="cuda", requires_grad=True)
-- y = x // w
-- z = y * 2.0
local x, w, y, z
x = ohm.randn(64, {device = "cuda", requires_grad = true})
w = ohm.randn(64, {device = "cuda", requires_grad = true})
y = x // w
z = y * 2.0
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== rsub_tensor
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(5, 1, device="cuda", requires_grad=True)
-- y = torch.rsub(x, w, alpha=0.5)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 1, {device = "cuda", requires_grad = true})
y = ohm.rsub(x, w, {alpha = 0.5})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_mask values=true
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- keep = torch.zeros(16, 8, dtype=torch.bool, device="cuda")
-- y = x.transpose(0, 1)[keep]
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
keep = ohm.zeros(16, 8, {dtype = ohm.bool, device = "cuda"})
y = x:transpose(0, 1):index({keep})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_mask_of_rows values=true
-- x = torch.randn(8, 5000, device="cuda", requires_grad=True)
-- rows = torch.zeros(8, dtype=torch.bool, device="cuda")
-- y = x[rows]
-- layout(y)
-- y.sum().backward()
local x, rows, y
x = ohm.randn(8, 5000, {device = "cuda", requires_grad = true})
rows = ohm.zeros(8, {dtype = ohm.bool, device = "cuda"})
y = x:index({rows})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
rows = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== masked_select_broadcast values=true
-- x = torch.randn(3, 1, 16, device="cuda", requires_grad=True)
-- keep = torch.zeros(8, 16, dtype=torch.bool, device="cuda")
-- y = x.masked_select(keep)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(3, 1, 16, {device = "cuda", requires_grad = true})
keep = ohm.zeros(8, 16, {dtype = ohm.bool, device = "cuda"})
y = x:masked_select(keep)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== nonzero_of_transposed values=true
-- keep = torch.zeros(70, 80, dtype=torch.bool, device="cuda")
-- y = keep.transpose(0, 1).nonzero()
-- layout(y)
-- i = torch.where(keep)[0]
local keep, y, i
keep = ohm.zeros(70, 80, {dtype = ohm.bool, device = "cuda"})
y = keep:transpose(0, 1):nonzero()
layout(y)
i = (ohm.where(keep))
mark("end of program (globals alive)")
keep = nil; sweep()
y = nil; sweep()
i = nil; sweep()
mark("globals deleted")

--== where_other_number
-- x = torch.randn(5, 7, device="cuda", dtype=torch.float16, requires_grad=True)
-- keep = torch.zeros(5, 7, dtype=torch.bool, device="cuda")
-- y = torch.where(keep, x, 0.5)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(5, 7, {device = "cuda", dtype = ohm.float16, requires_grad = true})
keep = ohm.zeros(5, 7, {dtype = ohm.bool, device = "cuda"})
y = ohm.where(keep, x, 0.5)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== where_input_number
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- keep = torch.zeros(5, 7, dtype=torch.bool, device="cuda")
-- y = torch.where(keep, 0.5, x)
-- layout(y)
-- y.sum().backward()
local x, keep, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
keep = ohm.zeros(5, 7, {dtype = ohm.bool, device = "cuda"})
y = ohm.where(keep, 0.5, x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== lerp_by_tensor
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- e = torch.randn(5, 7, device="cuda", requires_grad=True)
-- w = torch.randn(7, device="cuda", requires_grad=True)
-- y = torch.lerp(x, e, w)
-- layout(y)
-- y.sum().backward()
local x, e, w, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
e = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
w = ohm.randn(7, {device = "cuda", requires_grad = true})
y = ohm.lerp(x, e, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
e = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== std_biased
-- x = torch.randn(5, 7, device="cuda", requires_grad=True)
-- y = x.std(dim=1, unbiased=False) + x.var(correction=0)
-- y.sum().backward()
local x, y
x = ohm.randn(5, 7, {device = "cuda", requires_grad = true})
y = x:std({dim = 1, unbiased = false}) + x:var({correction = 0})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== diagonal_gradient
-- x = torch.randn(3, 5, 7, device="cuda", requires_grad=True)
-- y = x.diagonal(1, 2, 0)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(3, 5, 7, {device = "cuda", requires_grad = true})
y = x:diagonal(1, 2, 0)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== nan_to_num_gradient
-- x = torch.randn(7, 5, device="cuda", requires_grad=True)
-- y = x.mT.nan_to_num(nan=1.0).positive()
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(7, 5, {device = "cuda", requires_grad = true})
y = x.mT:nan_to_num({nan = 1.0}):positive()
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_outer
-- a = torch.randn(5, device="cuda", requires_grad=True)
-- b = torch.randn(6, device="cuda", requires_grad=True)
-- y = torch.einsum('i,j->ij', a, b)
-- layout(y)
-- y.sum().backward()
local a, b, y
a = ohm.randn(5, {device = "cuda", requires_grad = true})
b = ohm.randn(6, {device = "cuda", requires_grad = true})
y = ohm.einsum("i,j->ij", a, b)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
a = nil; sweep()
b = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_elements
-- a = torch.randn(5, 6, device="cuda", requires_grad=True)
-- b = torch.randn(5, 6, device="cuda", requires_grad=True)
-- y = torch.einsum('ij,ij->ji', a, b)
-- layout(y)
-- y.sum().backward()
local a, b, y
a = ohm.randn(5, 6, {device = "cuda", requires_grad = true})
b = ohm.randn(5, 6, {device = "cuda", requires_grad = true})
y = ohm.einsum("ij,ij->ji", a, b)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
a = nil; sweep()
b = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_inner_of_one
-- x = torch.randn(8, 3, 1, device="cuda", requires_grad=True)
-- w = torch.randn(8, 3, 1, device="cuda", requires_grad=True)
-- y = torch.einsum('...ij,...kj->...ik', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 3, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 3, 1, {device = "cuda", requires_grad = true})
y = ohm.einsum("...ij,...kj->...ik", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_ellipsis
-- x = torch.randn(8, 3, 5, device="cuda", requires_grad=True)
-- w = torch.randn(5, 4, device="cuda", requires_grad=True)
-- y = torch.einsum('...ij,jk', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(8, 3, 5, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 4, {device = "cuda", requires_grad = true})
y = ohm.einsum("...ij,jk", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== bernoulli_transposed_half
-- x = torch.randn(8, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.bernoulli(x.transpose(0, 1))
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(8, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.bernoulli(x:transpose(0, 1))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== any_of_one
-- x = torch.randn(1, device="cuda")
-- y = x.any()
-- z = x.all(dim=0)
local x, y, z
x = ohm.randn(1, {device = "cuda"})
y = x:any()
z = x:all({dim = 0})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prod_of_transposed
-- x = torch.randn(8, 700, device="cuda", requires_grad=True)
-- y = x.transpose(0, 1).prod()
-- y.backward()
local x, y
x = ohm.randn(8, 700, {device = "cuda", requires_grad = true})
y = x:transpose(0, 1):prod()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cumprod_gradient
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- y = x.transpose(0, 1).cumprod(dim=1)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
y = x:transpose(0, 1):cumprod({dim = 1})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== argmax_of_narrow
-- x = torch.randn(7, 9, device="cuda")
-- y = x.narrow(1, 1, 7).argmax()
local x, y
x = ohm.randn(7, 9, {device = "cuda"})
y = x:narrow(1, 1, 7):argmax()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== masked_fill_expanded
-- x = torch.randn(1, device="cuda").expand(3)
-- x.masked_fill_(torch.zeros(3, dtype=torch.bool, device="cuda"), 1.0)
-- layout(x)
local x
x = ohm.randn(1, {device = "cuda"}):expand(3)
x:masked_fill_(ohm.zeros(3, {dtype = ohm.bool, device = "cuda"}), 1.0)
layout(x)
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== max_pair
-- x = torch.randn(8, 16, device="cuda", requires_grad=True)
-- v, i = x.max(dim=1)
-- s = v.sum()
-- del v
-- y = x.max(dim=0)[1]
-- s.backward()
local x, v, i, s, y
x = ohm.randn(8, 16, {device = "cuda", requires_grad = true})
v, i = x:max({dim = 1})
s = v:sum()
v = nil; sweep()
y = second(x:max({dim = 0}))
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
s = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== mse_loss_none_of_transposed
-- x = torch.randn(3, 8, device="cuda", requires_grad=True)
-- w = torch.randn(3, 9, device="cuda")
-- y = F.mse_loss(x.transpose(0, 1), w.narrow(1, 1, 8).transpose(0, 1), reduction="none")
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(3, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 9, {device = "cuda"})
y = F.mse_loss(x:transpose(0, 1), w:narrow(1, 1, 8):transpose(0, 1), {reduction = "none"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== huber_loss_none_of_transposed
-- x = torch.randn(3, 8, device="cuda", requires_grad=True)
-- w = torch.randn(3, 8, device="cuda")
-- y = F.huber_loss(x.transpose(0, 1), w.transpose(0, 1), reduction="none")
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(3, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 8, {device = "cuda"})
y = F.huber_loss(x:transpose(0, 1), w:transpose(0, 1), {reduction = "none"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== binary_cross_entropy_both_gradients
-- x = torch.randn(7, 2, 16, device="cuda", requires_grad=True)
-- w = torch.randn(7, 2, 16, device="cuda", requires_grad=True)
-- y = F.binary_cross_entropy(torch.sigmoid(x.transpose(0, 1)), torch.sigmoid(w.transpose(0, 1)))
-- y.backward()
local x, w, y
x = ohm.randn(7, 2, 16, {device = "cuda", requires_grad = true})
w = ohm.randn(7, 2, 16, {device = "cuda", requires_grad = true})
y = F.binary_cross_entropy(ohm.sigmoid(x:transpose(0, 1)), ohm.sigmoid(w:transpose(0, 1)))
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_autocast_sum
-- x = torch.randn(5, 5, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = torch.einsum('ij->j', x)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(5, 5, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = ohm.einsum("ij->j", x)
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_autocast_elements
-- x = torch.randn(5, 300, device="cuda", requires_grad=True)
-- w = torch.randn(5, 900, device="cuda")
-- with torch.autocast("cuda", dtype=torch.float16): y = torch.einsum('ij,ik->ijk', x, w)
-- layout(y)
-- y.sum().backward()
local x, w, y
x = ohm.randn(5, 300, {device = "cuda", requires_grad = true})
w = ohm.randn(5, 900, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = ohm.einsum("ij,ik->ijk", x, w)
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== efficient_attention_unaligned
-- q0 = torch.randn(2, 2, 8, 44, device="cuda", requires_grad=True)
-- q = q0.narrow(3, 1, 40)
-- k = torch.randn(2, 2, 8, 40, device="cuda")
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q0, q, k, y
q0 = ohm.randn(2, 2, 8, 44, {device = "cuda", requires_grad = true})
q = q0:narrow(3, 1, 40)
k = ohm.randn(2, 2, 8, 40, {device = "cuda"})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q0 = nil; sweep()
q = nil; sweep()
k = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== flash_attention_wide_dropped
-- q = torch.randn(2, 2, 40, 130, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.25)
-- y.sum().backward()
local q, y
q = ohm.randn(2, 2, 40, 130, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, q, q, {dropout_p = 0.25})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== two_groups
-- m0 = nn.Linear(8, 8, device="cuda")
-- m1 = nn.Linear(8, 8, device="cuda")
-- opt = torch.optim.AdamW([{"params": m0.parameters()}, {"params": m1.parameters(), "lr": 0.01}], lr=0.1)
-- m1(m0(torch.randn(4, 8, device="cuda"))).pow(2).mean().backward()
-- opt.step()
local m0, m1, opt
m0 = nn.Linear(8, 8, {device = "cuda"})
m1 = nn.Linear(8, 8, {device = "cuda"})
opt = ohm.optim.AdamW({{params = m0:parameters()}, {params = m1:parameters(), lr = 0.01}}, {lr = 0.1})
m1(m0(ohm.randn(4, 8, {device = "cuda"}))):pow(2):mean():backward()
opt:step()
mark("end of program (globals alive)")
m0 = nil; sweep()
m1 = nil; sweep()
opt = nil; sweep()
mark("globals deleted")

--== take_along_dim_of_broadcast
-- x = torch.randn(7, 9, device="cuda", requires_grad=True)
-- ids = torch.zeros(1, 3, dtype=torch.int64, device="cuda")
-- y = torch.take_along_dim(x, ids, dim=1)
-- y.sum().backward()
local x, ids, y
x = ohm.randn(7, 9, {device = "cuda", requires_grad = true})
ids = ohm.zeros(1, 3, {dtype = ohm.int64, device = "cuda"})
y = ohm.take_along_dim(x, ids, {dim = 1})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== take_along_dim_of_transposed
-- x = torch.randn(1, 9, device="cuda", requires_grad=True)
-- ids = torch.zeros(9, 7, dtype=torch.int64, device="cuda")
-- y = torch.take_along_dim(x, ids.t(), dim=1)
-- layout(y)
-- y.sum().backward()
local x, ids, y
x = ohm.randn(1, 9, {device = "cuda", requires_grad = true})
ids = ohm.zeros(9, 7, {dtype = ohm.int64, device = "cuda"})
y = ohm.take_along_dim(x, ids:t(), {dim = 1})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== flash_attention_split
-- q = torch.randn(1, 4, 130, 40, device="cuda", dtype=torch.float16, requires_grad=True)
-- k = torch.randn(1, 4, 300, 40, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q, k, y
q = ohm.randn(1, 4, 130, 40, {device = "cuda", dtype = ohm.float16, requires_grad = true})
k = ohm.randn(1, 4, 300, 40, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
k = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== flash_attention_split_wide
-- q = torch.randn(1, 4, 64, 136, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- k = torch.randn(1, 4, 1100, 136, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = F.scaled_dot_product_attention(q, k, k)
-- y.sum().backward()
local q, k, y
q = ohm.randn(1, 4, 64, 136, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
k = ohm.randn(1, 4, 1100, 136, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = F.scaled_dot_product_attention(q, k, k)
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
k = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== efficient_attention_wide_half
-- q = torch.randn(1, 4, 33, 128, device="cuda", dtype=torch.float16, requires_grad=True)
-- mask = torch.zeros(33, 33, device="cuda", dtype=torch.float16)
-- y = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
-- y.sum().backward()
local q, mask, y
q = ohm.randn(1, 4, 33, 128, {device = "cuda", dtype = ohm.float16, requires_grad = true})
mask = ohm.zeros(33, 33, {device = "cuda", dtype = ohm.float16})
y = F.scaled_dot_product_attention(q, q, q, {attn_mask = mask})
y:sum():backward()
mark("end of program (globals alive)")
q = nil; sweep()
mask = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_reflect_keeps_its_input
-- x = torch.randn(2, 3, 1000, device="cuda", requires_grad=True)
-- h = x * 2
-- y = F.pad(h, (2, 3), mode="reflect")
-- del h
-- y.sum().backward()
local x, h, y
x = ohm.randn(2, 3, 1000, {device = "cuda", requires_grad = true})
h = x * 2
y = F.pad(h, {2, 3}, {mode = "reflect"})
h = nil; sweep()
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_reflect_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, 3, 1, 1), mode="reflect")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, 3, 1, 1}, {mode = "reflect"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_reflect_volumes
-- x0 = torch.randn(2, 10, 11, 12, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- y = F.pad(x, (2, 3, 1, 1, 1, 1), mode="reflect")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 10, 11, 12, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
y = F.pad(x, {2, 3, 1, 1, 1, 1}, {mode = "reflect"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_replicate_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, 3, 1, 1), mode="replicate")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, 3, 1, 1}, {mode = "replicate"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_circular_channels_last
-- x0 = torch.randn(2, 30, 40, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.pad(x, (2, -3, 1, 1), mode="circular")
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(2, 30, 40, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.pad(x, {2, -3, 1, 1}, {mode = "circular"})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pad_replicate_twice
-- x = torch.randn(3, 5, 8, device="cuda", requires_grad=True)
-- y = F.pad(x, (0, 1), mode="replicate")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(3, 5, 8, {device = "cuda", requires_grad = true})
y = F.pad(x, {0, 1}, {mode = "replicate"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv2d_same_uneven
-- m = nn.Conv2d(8, 6, (4, 3), padding="same", device="cuda")
-- x = torch.randn(2, 8, 9, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y
m = nn.Conv2d(8, 6, {4, 3}, {padding = "same", device = "cuda"})
x = ohm.randn(2, 8, 9, 7, {device = "cuda", requires_grad = true})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv2d_same_uneven_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(8, 6, 2, padding="same", groups=2, device="cuda")
-- x0 = torch.randn(2, 9, 7, 8, device="cuda", requires_grad=True)
-- y = m(x0.permute(0, 3, 1, 2))
-- layout(y)
-- y.sum().backward()
local m, x0, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(8, 6, 2, {padding = "same", groups = 2, device = "cuda"})
x0 = ohm.randn(2, 9, 7, 8, {device = "cuda", requires_grad = true})
y = m(x0:permute(0, 3, 1, 2))
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x0 = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv1d_same_uneven
-- m = nn.Conv1d(8, 6, 4, padding="same", device="cuda")
-- x = torch.randn(2, 8, 9, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Conv1d(8, 6, 4, {padding = "same", device = "cuda"})
x = ohm.randn(2, 8, 9, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv2d_reflect_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.Conv2d(8, 6, 3, padding=1, padding_mode="reflect", device="cuda")
-- x = torch.randn(2, 8, 9, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
ohm.backends.cudnn.enabled = true
m = nn.Conv2d(8, 6, 3, {padding = 1, padding_mode = "reflect", device = "cuda"})
x = ohm.randn(2, 8, 9, 7, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv1d_circular_same
-- m = nn.Conv1d(8, 6, 4, padding="same", padding_mode="circular", device="cuda")
-- x = torch.randn(2, 8, 9, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Conv1d(8, 6, 4, {padding = "same", padding_mode = "circular", device = "cuda"})
x = ohm.randn(2, 8, 9, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv_transpose1d_cudnn
-- torch.backends.cudnn.enabled = True
-- m = nn.ConvTranspose1d(4, 6, 3, stride=2, device="cuda")
-- x0 = torch.randn(2, 100, 4, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 2)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x0, x, y
ohm.backends.cudnn.enabled = true
m = nn.ConvTranspose1d(4, 6, 3, {stride = 2, device = "cuda"})
x0 = ohm.randn(2, 100, 4, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 2)
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv_transpose1d
-- m = nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2, device="cuda")
-- x0 = torch.randn(2, 100, 4, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 2)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x0, x, y
m = nn.ConvTranspose1d(4, 6, 3, {stride = 2, groups = 2, device = "cuda"})
x0 = ohm.randn(2, 100, 4, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 2)
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== bicubic_channels_last_gradient
-- x0 = torch.randn(4, 6, 8, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = F.interpolate(x, size=(5, 9), mode="bicubic")
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x0, x, y, g
x0 = ohm.randn(4, 6, 8, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = F.interpolate(x, {size = {5, 9}, mode = "bicubic"})
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== bicubic_autocast
-- x = torch.randn(2, 5, 8, 9, device="cuda", requires_grad=True, dtype=torch.float16)
-- with torch.autocast("cuda"): y = F.interpolate(x, size=(5, 12), mode="bicubic")
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 5, 8, 9, {device = "cuda", requires_grad = true, dtype = ohm.float16})
do
  local mode1 <close> = ohm.autocast("cuda")
  y = F.interpolate(x, {size = {5, 12}, mode = "bicubic"})
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== equal_of_tensors values=true
-- x = torch.randn(2, 1000, device="cuda")
-- y = torch.randn(2, 1000, device="cuda")
-- same = torch.equal(x, y)
-- mark("two")
-- same = torch.equal(x, x)
-- mark("one")
-- same = x.t().equal(y.t())
local x, y, same
x = ohm.randn(2, 1000, {device = "cuda"})
y = ohm.randn(2, 1000, {device = "cuda"})
same = ohm.equal(x, y)
mark("two")
same = ohm.equal(x, x)
mark("one")
same = x:t():equal(y:t())
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
same = nil; sweep()
mark("globals deleted")

--== isclose
-- x = torch.randn(2, 1000, device="cuda", requires_grad=True)
-- y = torch.randn(2, 1000, device="cuda", requires_grad=True)
-- close = torch.isclose(x, y)
-- layout(close)
-- del close
-- close = torch.isclose(x, y.detach(), equal_nan=True)
local x, y, close
x = ohm.randn(2, 1000, {device = "cuda", requires_grad = true})
y = ohm.randn(2, 1000, {device = "cuda", requires_grad = true})
close = ohm.isclose(x, y)
layout(close)
close = nil; sweep()
close = ohm.isclose(x, y:detach(), {equal_nan = true})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
close = nil; sweep()
mark("globals deleted")

--== allclose values=true
-- x = torch.randn(2, 1000, device="cuda")
-- y = torch.randn(2, 1000, device="cuda")
-- close = torch.allclose(x, y)
-- mark("strangers")
-- close = x.allclose(x, rtol=0.0, atol=0.0, equal_nan=True)
local x, y, close
x = ohm.randn(2, 1000, {device = "cuda"})
y = ohm.randn(2, 1000, {device = "cuda"})
close = ohm.allclose(x, y)
mark("strangers")
close = x:allclose(x, {rtol = 0.0, atol = 0.0, equal_nan = true})
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
close = nil; sweep()
mark("globals deleted")

--== isclose_of_integers
-- x = torch.randint(0, 9, (2, 1000), device="cuda")
-- y = torch.randint(0, 9, (1000,), device="cuda")
-- close = x.isclose(y)
-- layout(close)
local x, y, close
x = ohm.randint(0, 9, {2, 1000}, {device = "cuda"})
y = ohm.randint(0, 9, {1000}, {device = "cuda"})
close = x:isclose(y)
layout(close)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
close = nil; sweep()
mark("globals deleted")

--== twice_batch_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_batch_norm_without_weight
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, affine=False, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {affine = false, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_batch_norm_in_evaluation
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- layer.eval()
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
layer:eval()
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_batch_norm_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_batch_norm_of_cudnn_in_evaluation
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.BatchNorm2d(2, device="cuda")
-- layer.eval()
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.BatchNorm2d(2, {device = "cuda"})
layer:eval()
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_group_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.GroupNorm(1, 2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.GroupNorm(1, 2, {device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_group_norm_without_weight
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.GroupNorm(1, 2, affine=False, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.GroupNorm(1, 2, {affine = false, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_instance_norm
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.InstanceNorm2d(2, affine=True, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.InstanceNorm2d(2, {affine = true, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_bilinear
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Upsample(scale_factor=2, mode="bilinear")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Upsample({scale_factor = 2, mode = "bilinear"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_grouped_conv
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, groups=2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, groups = 2, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_grouped_conv_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(3, 2, 5, 20, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, groups=2, device="cuda")
-- y = layer(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, layer, y, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(3, 2, 5, 20, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, groups = 2, device = "cuda"})
y = layer(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_bce
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy(p, t)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy(p, t)
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
p = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_bce_with_weight
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy(p, t, weight=w)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy(p, t, {weight = w})
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
p = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_bce_with_logits
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy_with_logits(x, t)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy_with_logits(x, t)
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
p = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_bce_with_logits_and_weights
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.zeros(3, 700, device="cuda")
-- w = torch.ones(700, device="cuda")
-- p = torch.sigmoid(x)
-- loss = F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=w)
-- mark("forward")
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, t, w, p, loss, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.zeros(3, 700, {device = "cuda"})
w = ohm.ones(700, {device = "cuda"})
p = ohm.sigmoid(x)
loss = F.binary_cross_entropy_with_logits(x, t, {weight = w, pos_weight = w})
mark("forward")
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
p = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_softplus
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.softplus(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.softplus(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_logsigmoid
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.logsigmoid(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.logsigmoid(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_mish
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.mish(x)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.mish(x)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_maximum
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = torch.maximum(x, w)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = ohm.maximum(x, w)
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_var
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.var(dim=1)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:var({dim = 1})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_std
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.std(dim=0, keepdim=True)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:std({dim = 0, keepdim = true})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_index_select
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = x.index_select(0, torch.zeros(3, dtype=torch.long, device="cuda"))
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = x:index_select(0, ohm.zeros(3, {dtype = ohm.int64, device = "cuda"}))
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_embedding_with_padding
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(3, 700, device="cuda", requires_grad=True)
-- y = F.embedding(torch.zeros(7, 3, dtype=torch.long, device="cuda"), x, padding_idx=0)
-- mark("forward")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- mark("first")
-- z = (g * g).sum()
-- z.backward()
local x, w, y, g, z
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(3, 700, {device = "cuda", requires_grad = true})
y = F.embedding(ohm.zeros(7, 3, {dtype = ohm.int64, device = "cuda"}), x, {padding_idx = 0})
mark("forward")
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
mark("first")
z = (g * g):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== twice_penalty_of_a_critic
-- torch.backends.cudnn.enabled = True
-- critic = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.GroupNorm(2, 8), nn.SiLU(), nn.Flatten(), nn.Linear(8 * 8 * 8, 1)).cuda()
-- opt = torch.optim.Adam(critic.parameters())
-- for step in range(2):
--     opt.zero_grad()
--     real = torch.randn(4, 3, 16, 16, device="cuda", requires_grad=True)
--     scores = critic(real)
--     g = torch.autograd.grad(scores.sum(), real, create_graph=True)[0]
--     penalty = (g * g).sum()
--     loss = scores.mean() + penalty
--     loss.backward()
--     opt.step()
-- mark("two steps")
local critic, opt, real, scores, g, penalty, loss
ohm.backends.cudnn.enabled = true
critic = nn.Sequential(nn.Conv2d(3, 8, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3, {padding = 1, groups = 8}), nn.GroupNorm(2, 8), nn.SiLU(), nn.Flatten(), nn.Linear((8 * 8) * 8, 1)):cuda()
opt = ohm.optim.Adam(critic:parameters())
for step = 0, 1 do
  opt:zero_grad()
  real = ohm.randn(4, 3, 16, 16, {device = "cuda", requires_grad = true})
  scores = critic(real)
  g = (ohm.autograd.grad(scores:sum(), real, {create_graph = true}))
  penalty = (g * g):sum()
  loss = scores:mean() + penalty
  loss:backward()
  opt:step()
end
mark("two steps")
mark("end of program (globals alive)")
critic = nil; sweep()
opt = nil; sweep()
real = nil; sweep()
scores = nil; sweep()
g = nil; sweep()
penalty = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== matmul_of_columns
-- x0 = torch.randn(7, 1, 1, 3, device="cuda", requires_grad=True)
-- x = x0.transpose(3, 2)
-- w0 = torch.randn(1, 7, 3, 2, device="cuda", requires_grad=True)
-- w = w0.narrow(3, 1, 1).transpose(0, 1)
-- y = torch.matmul(x, w.transpose(-2, -1))
-- y.sum().backward()
local x0, x, w0, w, y
x0 = ohm.randn(7, 1, 1, 3, {device = "cuda", requires_grad = true})
x = x0:transpose(3, 2)
w0 = ohm.randn(1, 7, 3, 2, {device = "cuda", requires_grad = true})
w = w0:narrow(3, 1, 1):transpose(0, 1)
y = ohm.matmul(x, w:transpose(-2, -1))
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
w0 = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== gradient_of_bce_target_with_weights
-- x = torch.randn(3, 700, device="cuda", requires_grad=True)
-- t = torch.rand(3, 700, device="cuda", requires_grad=True)
-- w = torch.ones(700, device="cuda")
-- loss = F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=w)
-- loss.backward()
local x, t, w, loss
x = ohm.randn(3, 700, {device = "cuda", requires_grad = true})
t = ohm.rand(3, 700, {device = "cuda", requires_grad = true})
w = ohm.ones(700, {device = "cuda"})
loss = F.binary_cross_entropy_with_logits(x, t, {weight = w, pos_weight = w})
loss:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== conv_transpose3d_resizes_its_result
-- x0 = torch.randn(8, 1, 4, 6, 6, device="cuda", dtype=torch.float64, requires_grad=True)
-- x = x0.narrow(4, 1, 5).transpose(0, 1)
-- m = nn.ConvTranspose3d(8, 6, 2, stride=2, device="cuda", dtype=torch.float64)
-- y = m(x)
-- y.sum().backward()
local x0, x, m, y
x0 = ohm.randn(8, 1, 4, 6, 6, {device = "cuda", dtype = ohm.float64, requires_grad = true})
x = x0:narrow(4, 1, 5):transpose(0, 1)
m = nn.ConvTranspose3d(8, 6, 2, {stride = 2, device = "cuda", dtype = ohm.float64})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv_transpose3d_keeps_the_memory_of_its_input
-- x = torch.randn(1, 8, 4, 6, 6, device="cuda", requires_grad=True)
-- m = nn.ConvTranspose3d(8, 1, 1, padding=1, device="cuda")
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local x, m, y
x = ohm.randn(1, 8, 4, 6, 6, {device = "cuda", requires_grad = true})
m = nn.ConvTranspose3d(8, 1, 1, {padding = 1, device = "cuda"})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv3d_of_single_channels
-- x0 = torch.randn(8, 2, 5, 3, 5, device="cuda", requires_grad=True)
-- x = x0.transpose(1, 0)
-- m = nn.Conv3d(8, 16, 2, groups=8, device="cuda")
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(8, 2, 5, 3, 5, {device = "cuda", requires_grad = true})
x = x0:transpose(1, 0)
m = nn.Conv3d(8, 16, 2, {groups = 8, device = "cuda"})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv3d_with_channels_last
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 4, 4, 8, device="cuda", requires_grad=True).permute(0, 4, 1, 2, 3)
-- m = nn.Conv3d(8, 8, 3, padding=1, groups=8, device="cuda")
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 4, 4, 8, {device = "cuda", requires_grad = true}):permute(0, 4, 1, 2, 3)
m = nn.Conv3d(8, 8, 3, {padding = 1, groups = 8, device = "cuda"})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== conv3d_without_cudnn
-- x = torch.randn(3, 4, 5, 4, 6, device="cuda", requires_grad=True)
-- m = nn.Conv3d(4, 6, (2, 3, 1), padding="same", groups=2, device="cuda")
-- y = m(x)
-- y.sum().backward()
local x, m, y
x = ohm.randn(3, 4, 5, 4, 6, {device = "cuda", requires_grad = true})
m = nn.Conv3d(4, 6, {2, 3, 1}, {padding = "same", groups = 2, device = "cuda"})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== max_pool3d_of_one_volume_with_channels_last
-- x0 = torch.randn(4, 6, 4, 8, device="cuda", requires_grad=True)
-- x = x0.permute(3, 0, 1, 2)
-- y = F.max_pool3d(x, 2)
-- layout(y)
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(4, 6, 4, 8, {device = "cuda", requires_grad = true})
x = x0:permute(3, 0, 1, 2)
y = F.max_pool3d(x, 2)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== pooling_of_volumes_with_channels_last
-- x = torch.randn(2, 4, 6, 6, 8, device="cuda", requires_grad=True).permute(0, 4, 1, 2, 3)
-- a = F.max_pool3d(x, 3, stride=1, padding=1)
-- b = F.avg_pool3d(x, 2)
-- c = F.adaptive_avg_pool3d(x, (2, 3, 1))
-- d = F.adaptive_avg_pool3d(x, 1)
-- layout(a)
-- layout(b)
-- layout(c)
-- layout(d)
-- loss = a.sum() + b.sum() + c.sum() + d.sum()
-- loss.backward()
local x, a, b, c, d, loss
x = ohm.randn(2, 4, 6, 6, 8, {device = "cuda", requires_grad = true}):permute(0, 4, 1, 2, 3)
a = F.max_pool3d(x, 3, {stride = 1, padding = 1})
b = F.avg_pool3d(x, 2)
c = F.adaptive_avg_pool3d(x, {2, 3, 1})
d = F.adaptive_avg_pool3d(x, 1)
layout(a)
layout(b)
layout(c)
layout(d)
loss = ((a:sum() + b:sum()) + c:sum()) + d:sum()
loss:backward()
mark("end of program (globals alive)")
x = nil; sweep()
a = nil; sweep()
b = nil; sweep()
c = nil; sweep()
d = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== twice_conv3d
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 5, 4, 6, device="cuda", requires_grad=True)
-- conv = nn.Conv3d(4, 6, 3, stride=2, padding=1, device="cuda")
-- m = nn.Sequential(nn.BatchNorm3d(6), nn.MaxPool3d(2, stride=1)).cuda()
-- y = m(conv(x))
-- g, h = torch.autograd.grad((y * y).sum(), [x, conv.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z.backward()
local x, conv, m, y, g, h, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 5, 4, 6, {device = "cuda", requires_grad = true})
conv = nn.Conv3d(4, 6, 3, {stride = 2, padding = 1, device = "cuda"})
m = nn.Sequential(nn.BatchNorm3d(6), nn.MaxPool3d(2, {stride = 1})):cuda()
y = m(conv(x))
g, h = table.unpack(ohm.autograd.grad((y * y):sum(), {x, conv.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
conv = nil; sweep()
m = nil; sweep()
y = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== norms_and_dropout_of_volumes
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 4, 3, 4, 5, device="cuda", requires_grad=True)
-- m = nn.Sequential(nn.BatchNorm3d(4), nn.Dropout3d(0.5), nn.InstanceNorm3d(4, affine=True), nn.GroupNorm(2, 4)).cuda()
-- y = m(x)
-- y.sum().backward()
local x, m, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 4, 3, 4, 5, {device = "cuda", requires_grad = true})
m = nn.Sequential(nn.BatchNorm3d(4), nn.Dropout3d(0.5), nn.InstanceNorm3d(4, {affine = true}), nn.GroupNorm(2, 4)):cuda()
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== likes_of_tensors_with_gaps
-- x0 = torch.randn(2, 7, 8, device="cuda")
-- x = x0.narrow(2, 1, 7).transpose(0, 1)
-- a = torch.ones_like(x)
-- layout(a)
-- b = torch.zeros_like(x)
-- layout(b)
-- c = torch.empty_like(x)
-- layout(c)
-- d = torch.randn_like(x)
-- layout(d)
-- e = torch.rand_like(x)
-- layout(e)
-- f = torch.full_like(x, 2.0)
-- layout(f)
local x0, x, a, b, c, d, e, f
x0 = ohm.randn(2, 7, 8, {device = "cuda"})
x = x0:narrow(2, 1, 7):transpose(0, 1)
a = ohm.ones_like(x)
layout(a)
b = ohm.zeros_like(x)
layout(b)
c = ohm.empty_like(x)
layout(c)
d = ohm.randn_like(x)
layout(d)
e = ohm.rand_like(x)
layout(e)
f = ohm.full_like(x, 2.0)
layout(f)
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
a = nil; sweep()
b = nil; sweep()
c = nil; sweep()
d = nil; sweep()
e = nil; sweep()
f = nil; sweep()
mark("globals deleted")

--== integers_and_fractions
-- x = torch.zeros(3, 200, dtype=torch.long, device="cuda")
-- a = x * 2.0
-- layout(a)
-- b = x * 2
-- layout(b)
-- c = 1.0 - x
-- layout(c)
-- d = (x > 0) * 1.0
-- layout(d)
-- e = torch.where(x > 0, x, 1.0)
-- layout(e)
local x, a, b, c, d, e
x = ohm.zeros(3, 200, {dtype = ohm.int64, device = "cuda"})
a = x * 2.0
layout(a)
b = x * 2
layout(b)
c = 1.0 - x
layout(c)
d = (x:gt(0)) * 1.0
layout(d)
e = ohm.where(x:gt(0), x, 1.0)
layout(e)
mark("end of program (globals alive)")
x = nil; sweep()
a = nil; sweep()
b = nil; sweep()
c = nil; sweep()
d = nil; sweep()
e = nil; sweep()
mark("globals deleted")

--== roll_as_one_line
-- x0 = torch.randn(16, 16, 8, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.roll(1)
-- layout(y)
-- g = torch.ones_like(y)
-- y.backward(g)
local x0, x, y, g
x0 = ohm.randn(16, 16, 8, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = x:roll(1)
layout(y)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== squeeze_of_nothing
-- x = torch.randn(5, device="cuda", requires_grad=True)
-- y = x.squeeze()
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(5, {device = "cuda", requires_grad = true})
y = x:squeeze()
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== einsum_without_contraction
-- x0 = torch.randn(16, 1, 3, device="cuda", requires_grad=True)
-- x = x0.permute(0, 2, 1)
-- w0 = torch.randn(3, 16, 2, device="cuda")
-- w = w0.narrow(2, 1, 1).transpose(0, 1)
-- y = torch.einsum('...ij,...kj->...ik', x, w)
-- layout(y)
-- y.sum().backward()
local x0, x, w0, w, y
x0 = ohm.randn(16, 1, 3, {device = "cuda", requires_grad = true})
x = x0:permute(0, 2, 1)
w0 = ohm.randn(3, 16, 2, {device = "cuda"})
w = w0:narrow(2, 1, 1):transpose(0, 1)
y = ohm.einsum("...ij,...kj->...ik", x, w)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
w0 = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== columns_of_windows
-- x = torch.randn(2, 3, 12, 14, device="cuda", requires_grad=True)
-- y = F.unfold(x, 3, padding=1, stride=(1, 2))
-- layout(y)
-- z = F.fold(y * 2.0, (12, 14), 3, padding=1, stride=(1, 2))
-- layout(z)
-- z.sum().backward()
local x, y, z
x = ohm.randn(2, 3, 12, 14, {device = "cuda", requires_grad = true})
y = F.unfold(x, 3, {padding = 1, stride = {1, 2}})
layout(y)
z = F.fold(y * 2.0, {12, 14}, 3, {padding = 1, stride = {1, 2}})
layout(z)
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== columns_of_turned_images
-- x = torch.randn(2, 3, 10, 50, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = nn.Unfold(3)(x.transpose(2, 3))
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, y
x = ohm.randn(2, 3, 10, 50, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = nn.Unfold(3)(x:transpose(2, 3))
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== columns_smaller_than_the_image
-- x = torch.randn(3, 20, 25, device="cuda", requires_grad=True)
-- y = F.unfold(x, 3, stride=3)
-- layout(y)
-- del x
-- y.sum().backward()
local x, y
x = ohm.randn(3, 20, 25, {device = "cuda", requires_grad = true})
y = F.unfold(x, 3, {stride = 3})
layout(y)
x = nil; sweep()
y:sum():backward()
mark("end of program (globals alive)")
y = nil; sweep()
mark("globals deleted")

--== folded_columns_that_lie_otherwise
-- x = torch.randn(27, 2, 120, device="cuda", requires_grad=True)
-- y = F.fold(x.transpose(0, 1), (12, 14), 3)
-- layout(y)
-- y.backward(torch.ones_like(y))
local x, y
x = ohm.randn(27, 2, 120, {device = "cuda", requires_grad = true})
y = F.fold(x:transpose(0, 1), {12, 14}, 3)
layout(y)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== adaptive_maxima_with_channels_last
-- x = torch.randn(2, 4, 20, 20, device="cuda", requires_grad=True)
-- y = F.adaptive_max_pool2d(x.to(memory_format=torch.channels_last), (7, 5))
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, y
x = ohm.randn(2, 4, 20, 20, {device = "cuda", requires_grad = true})
y = F.adaptive_max_pool2d(x:to({memory_format = ohm.channels_last}), {7, 5})
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== adaptive_maxima_of_one_turned_image
-- x = torch.randn(4, 20, 21, device="cuda", requires_grad=True)
-- y = nn.AdaptiveMaxPool2d(3)(x.transpose(1, 2))
-- z = y.transpose(0, 2).contiguous()
-- z.backward(torch.ones_like(z))
local x, y, z
x = ohm.randn(4, 20, 21, {device = "cuda", requires_grad = true})
y = nn.AdaptiveMaxPool2d(3)(x:transpose(1, 2))
z = y:transpose(0, 2):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== adaptive_maxima_of_expanded_lines
-- x = torch.randn(2, 1, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = F.adaptive_max_pool1d(x.expand(2, 300), 50)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 1, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = F.adaptive_max_pool1d(x:expand(2, 300), 50)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== grid_of_affine_maps
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- grid = F.affine_grid(theta, (2, 8, 20, 30), align_corners=False)
-- layout(grid)
-- y = F.grid_sample(x, grid, align_corners=False)
-- layout(y)
-- y.mean().backward()
local theta, x, grid, y
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
grid = F.affine_grid(theta, {2, 8, 20, 30}, {align_corners = false})
layout(grid)
y = F.grid_sample(x, grid, {align_corners = false})
layout(y)
y:mean():backward()
mark("end of program (globals alive)")
theta = nil; sweep()
x = nil; sweep()
grid = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== affine_grid_of_one_row
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- y = F.affine_grid(theta, (2, 3, 1, 40), align_corners=True)
-- y.sum().backward()
local theta, y
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
y = F.affine_grid(theta, {2, 3, 1, 40}, {align_corners = true})
y:sum():backward()
mark("end of program (globals alive)")
theta = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== samples_of_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(2, 8, 20, 21, device="cuda", requires_grad=True)
-- g = torch.randn(2, 30, 20, 2, device="cuda", requires_grad=True)
-- y = F.grid_sample(x.transpose(2, 3), g.transpose(1, 2), align_corners=True)
-- layout(y)
-- y.sum().backward()
-- layout(g.grad)
local x, g, y
ohm.backends.cudnn.enabled = true
x = ohm.randn(2, 8, 20, 21, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 30, 20, 2, {device = "cuda", requires_grad = true})
y = F.grid_sample(x:transpose(2, 3), g:transpose(1, 2), {align_corners = true})
layout(y)
y:sum():backward()
layout(g.grad)
mark("end of program (globals alive)")
x = nil; sweep()
g = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== samples_at_a_constant_grid
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- g = torch.randn(2, 30, 20, 2, device="cuda")
-- y = F.grid_sample(x.to(memory_format=torch.channels_last), g, mode="bicubic", padding_mode="reflection", align_corners=False)
-- layout(y)
-- y.backward(torch.ones_like(y))
-- layout(x.grad)
local x, g, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
g = ohm.randn(2, 30, 20, 2, {device = "cuda"})
y = F.grid_sample(x:to({memory_format = ohm.channels_last}), g, {mode = "bicubic", padding_mode = "reflection", align_corners = false})
layout(y)
y:backward(ohm.ones_like(y))
layout(x.grad)
mark("end of program (globals alive)")
x = nil; sweep()
g = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== samples_of_constant_images
-- x = torch.randn(2, 8, 20, 20, device="cuda")
-- g = torch.randn(2, 30, 20, 2, device="cuda", requires_grad=True)
-- y = F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=False)
-- y.backward(torch.ones_like(y))
local x, g, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda"})
g = ohm.randn(2, 30, 20, 2, {device = "cuda", requires_grad = true})
y = F.grid_sample(x, g, {mode = "nearest", padding_mode = "border", align_corners = false})
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x = nil; sweep()
g = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== samples_under_autocast
-- x = torch.randn(2, 8, 20, 20, device="cuda", requires_grad=True)
-- theta = torch.randn(2, 2, 3, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.float16):
--     y = F.grid_sample(x, F.affine_grid(theta, (2, 8, 10, 10), align_corners=True), align_corners=True)
-- layout(y)
-- y.sum().backward()
local x, theta, y
x = ohm.randn(2, 8, 20, 20, {device = "cuda", requires_grad = true})
theta = ohm.randn(2, 2, 3, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
  y = F.grid_sample(x, F.affine_grid(theta, {2, 8, 10, 10}, {align_corners = true}), {align_corners = true})
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
theta = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== shuffled_pixels_and_channels
-- x = torch.randn(2, 8, 12, 12, device="cuda", requires_grad=True)
-- y = torch.channel_shuffle(F.pixel_unshuffle(x, 2), 4)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 12, 12, {device = "cuda", requires_grad = true})
y = ohm.channel_shuffle(F.pixel_unshuffle(x, 2), 4)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== shuffled_channels_of_a_part
-- x = torch.randn(6, 8, 6, 8, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.channel_shuffle(x.narrow(0, 1, 4), 4)
-- y.sum().backward()
local x, y
x = ohm.randn(6, 8, 6, 8, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.channel_shuffle(x:narrow(0, 1, 4), 4)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== local_response_norm
-- x = torch.randn(2, 8, 200, device="cuda", requires_grad=True)
-- y = nn.LocalResponseNorm(3)(x)
-- layout(y)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 200, {device = "cuda", requires_grad = true})
y = nn.LocalResponseNorm(3)(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== local_response_norm_without_a_graph
-- x = torch.randn(2, 8, 10, 20, device="cuda")
-- y = nn.LocalResponseNorm(3)(x)
-- layout(y)
local x, y
x = ohm.randn(2, 8, 10, 20, {device = "cuda"})
y = nn.LocalResponseNorm(3)(x)
layout(y)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== gumbel_softmax
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- y = F.gumbel_softmax(x, tau=0.5)
-- h = F.gumbel_softmax(x, hard=True, dim=0)
-- layout(h)
-- s = (y + h).sum()
-- s.backward()
local x, y, h, s
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
y = F.gumbel_softmax(x, {tau = 0.5})
h = F.gumbel_softmax(x, {hard = true, dim = 0})
layout(h)
s = (y + h):sum()
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== soft_margins
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- t = torch.randn(80, 60, device="cuda").transpose(0, 1)
-- y = F.soft_margin_loss(x, t)
-- z = F.soft_margin_loss(x, t, reduction="none")
-- layout(z)
-- s = y + z.mean()
-- s.backward()
local x, t, y, z, s
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
t = ohm.randn(80, 60, {device = "cuda"}):transpose(0, 1)
y = F.soft_margin_loss(x, t)
z = F.soft_margin_loss(x, t, {reduction = "none"})
layout(z)
s = y + z:mean()
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
y = nil; sweep()
z = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== margins_of_classes
-- x = torch.randn(80, 600, device="cuda", requires_grad=True)
-- t = torch.zeros(600, dtype=torch.long, device="cuda")
-- w = torch.ones(80, device="cuda")
-- y = F.multi_margin_loss(x.transpose(0, 1), t, p=2, weight=w)
-- z = F.multi_margin_loss(x.transpose(0, 1), t, reduction="none")
-- layout(z)
-- s = y + z.sum()
-- s.backward()
local x, t, w, y, z, s
x = ohm.randn(80, 600, {device = "cuda", requires_grad = true})
t = ohm.zeros(600, {dtype = ohm.int64, device = "cuda"})
w = ohm.ones(80, {device = "cuda"})
y = F.multi_margin_loss(x:transpose(0, 1), t, {p = 2, weight = w})
z = F.multi_margin_loss(x:transpose(0, 1), t, {reduction = "none"})
layout(z)
s = y + z:sum()
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== cosine_embeddings
-- x = torch.randn(600, 80, device="cuda", requires_grad=True)
-- w = torch.randn(600, 80, device="cuda", requires_grad=True)
-- t = torch.ones(600, device="cuda")
-- y = F.cosine_embedding_loss(x, w, t, margin=0.5)
-- y.backward()
local x, w, t, y
x = ohm.randn(600, 80, {device = "cuda", requires_grad = true})
w = ohm.randn(600, 80, {device = "cuda", requires_grad = true})
t = ohm.ones(600, {device = "cuda"})
y = F.cosine_embedding_loss(x, w, t, {margin = 0.5})
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
t = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== gaussian_likelihoods
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- t = torch.randn(60, 80, device="cuda")
-- v = torch.ones(60, 1, device="cuda", requires_grad=True)
-- y = F.gaussian_nll_loss(x, t, v, full=True)
-- layout(y)
-- y.backward()
local x, t, v, y
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
t = ohm.randn(60, 80, {device = "cuda"})
v = ohm.ones(60, 1, {device = "cuda", requires_grad = true})
y = F.gaussian_nll_loss(x, t, v, {full = true})
layout(y)
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
v = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== gaussian_likelihoods_without_a_graph
-- x = torch.randn(60, 80, device="cuda")
-- t = torch.randn(60, 80, device="cuda")
-- v = torch.ones(60, 80, device="cuda")
-- y = F.gaussian_nll_loss(x, t, v, reduction="none")
-- layout(y)
local x, t, v, y
x = ohm.randn(60, 80, {device = "cuda"})
t = ohm.randn(60, 80, {device = "cuda"})
v = ohm.ones(60, 80, {device = "cuda"})
y = F.gaussian_nll_loss(x, t, v, {reduction = "none"})
layout(y)
mark("end of program (globals alive)")
x = nil; sweep()
t = nil; sweep()
v = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== copies_between_devices_of_tensors_with_gaps
-- x0 = torch.randn(2, 16, 7, 4, device="cuda")
-- x = x0.narrow(3, 1, 3).transpose(0, 1)
-- a = x.cpu()
-- layout(a)
-- b = x.to("cpu", torch.float64)
-- layout(b)
-- h0 = torch.randn(2, 16, 7, 4)
-- h = h0.narrow(3, 1, 3).transpose(0, 1)
-- c = h.cuda()
-- layout(c)
-- d = h.to("cuda", torch.float16)
-- layout(d)
-- e = x.to("cpu", non_blocking=True)
-- layout(e)
-- f = x.double()
-- layout(f)
-- k2 = torch.randn(5, 4, device="cuda").narrow(1, 0, 3)
-- g = k2.cpu()
-- layout(g)
-- i = k2.transpose(0, 1).cpu()
-- layout(i)
local x0, x, a, b, h0, h, c, d, e, f, k2, g, i
x0 = ohm.randn(2, 16, 7, 4, {device = "cuda"})
x = x0:narrow(3, 1, 3):transpose(0, 1)
a = x:cpu()
layout(a)
b = x:to("cpu", ohm.float64)
layout(b)
h0 = ohm.randn(2, 16, 7, 4)
h = h0:narrow(3, 1, 3):transpose(0, 1)
c = h:cuda()
layout(c)
d = h:to("cuda", ohm.float16)
layout(d)
e = x:to("cpu", {non_blocking = true})
layout(e)
f = x:double()
layout(f)
k2 = ohm.randn(5, 4, {device = "cuda"}):narrow(1, 0, 3)
g = k2:cpu()
layout(g)
i = k2:transpose(0, 1):cpu()
layout(i)
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
a = nil; sweep()
b = nil; sweep()
h0 = nil; sweep()
h = nil; sweep()
c = nil; sweep()
d = nil; sweep()
e = nil; sweep()
f = nil; sweep()
k2 = nil; sweep()
g = nil; sweep()
i = nil; sweep()
mark("globals deleted")

--== split_of_one_column_of_channels_last
-- x0 = torch.randn(5, 8, 1, 8, device="cuda", requires_grad=True)
-- x = x0.permute(0, 3, 1, 2)
-- y = x.split(1, dim=-1)[0]
-- z = torch.cat([y, y], dim=-1)
-- z.backward(torch.ones_like(z))
local x0, x, y, z
x0 = ohm.randn(5, 8, 1, 8, {device = "cuda", requires_grad = true})
x = x0:permute(0, 3, 1, 2)
y = (x:split(1, {dim = -1}))
z = ohm.cat({y, y}, {dim = -1})
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== std_of_one_element_over_named_dims
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = x.std(dim=(0, 1))
-- y.sum().backward()
local x, y
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = x:std({dim = {0, 1}})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_expanded_gradient
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x)
-- y.sum().backward()
local x0, x, m, y
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_copied_gradient
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16)
-- y = m(x)
-- z = y.transpose(0, -1).contiguous()
-- z.backward(torch.ones_like(z))
local x0, x, m, y, z
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16})
y = m(x)
z = y:transpose(0, -1):contiguous()
z:backward(ohm.ones_like(z))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== batch_norm3d_bf16_channels_last_no_affine
-- x0 = torch.randn(2, 6, 6, 3, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- x = x0.permute(0, 4, 1, 2, 3)
-- m = nn.BatchNorm3d(8, device="cuda", dtype=torch.bfloat16, affine=False)
-- y = m(x)
-- y.backward(torch.ones_like(y))
local x0, x, m, y
x0 = ohm.randn(2, 6, 6, 3, 8, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
x = x0:permute(0, 4, 1, 2, 3)
m = nn.BatchNorm3d(8, {device = "cuda", dtype = ohm.bfloat16, affine = false})
y = m(x)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
m = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== elu_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.elu(x, 0.7)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.elu(x, 0.7)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== celu_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.celu(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.celu(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== hardtanh_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.hardtanh(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.hardtanh(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== silu_written_over_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.silu(x * w, inplace=True)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.silu(x * w, {inplace = true})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== hardswish_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.hardswish(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.hardswish(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== softshrink_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.softshrink(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.softshrink(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prelu_by_channel_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.prelu(x, w.transpose(0, 1).flatten(1).sum(1))
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.prelu(x, w:transpose(0, 1):flatten(1):sum(1))
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== glu_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.glu(torch.cat([x, w], dim=1), dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.glu(ohm.cat({x, w}, {dim = 1}), {dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== smooth_l1_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.smooth_l1_loss(x, w, beta=0.5)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.smooth_l1_loss(x, w, {beta = 0.5})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== huber_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.huber_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.huber_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== huber_of_each_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.huber_loss(x, w, reduction="none")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.huber_loss(x, w, {reduction = "none"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== soft_margin_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.soft_margin_loss(x, w.detach())
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.soft_margin_loss(x, w:detach())
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== mse_of_each_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.mse_loss(x, w, reduction="none")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.mse_loss(x, w, {reduction = "none"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prod_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.prod()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:prod()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prod_of_rows_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.prod(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:prod({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cumprod_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.cumprod(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:cumprod({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== amax_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.amax()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:amax()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== amin_of_rows_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.amin(dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:amin({dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== gather_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(2, 3, dtype=torch.long, device="cuda")
-- y = x.gather(0, ids)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, ids, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(2, 3, {dtype = ohm.int64, device = "cuda"})
y = x:gather(0, ids)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== scatter_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(2, 3, dtype=torch.long, device="cuda")
-- y = x.scatter(0, ids, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, ids, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(2, 3, {dtype = ohm.int64, device = "cuda"})
y = x:scatter(0, ids, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== index_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x[line]
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, line, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index({line})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
line = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== index_add_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- line = torch.zeros(1, dtype=torch.long, device="cuda")
-- y = x.index_add(0, line, w.narrow(0, 0, 1), alpha=0.5)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, line, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
line = ohm.zeros(1, {dtype = ohm.int64, device = "cuda"})
y = x:index_add(0, line, w:narrow(0, 0, 1), {alpha = 0.5})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
line = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== masked_select_twice values=true
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- keep = torch.zeros(2, 3, dtype=torch.bool, device="cuda")
-- y = x.masked_select(keep)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, keep, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
keep = ohm.zeros(2, 3, {dtype = ohm.bool, device = "cuda"})
y = x:masked_select(keep)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== abs_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = torch.abs(x * w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = ohm.abs(x * w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== softsign_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.softsign(x)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.softsign(x)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== l1_loss_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = F.l1_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = F.l1_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== norm_1_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.norm(p=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:norm({p = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== norm_infinity_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = x.norm(p=float("inf"), dim=1)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = x:norm({p = math.huge, dim = 1})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv_transpose1d_twice
-- x = torch.randn(2, 4, 8, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose1d(4, 4, 3, stride=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 8, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose1d(4, 4, 3, {stride = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv1d_and_its_loss_twice
-- x = torch.randn(2, 6, 3, device="cuda", requires_grad=True)
-- layer = nn.Conv1d(6, 4, 3, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- z = (g * g).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, z
x = ohm.randn(2, 6, 3, {device = "cuda", requires_grad = true})
layer = nn.Conv1d(6, 4, 3, {device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
z = (g * g):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv_transpose2d_twice
-- x = torch.randn(2, 4, 5, 3, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose2d(4, 4, 3, groups=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 5, 3, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose2d(4, 4, 3, {groups = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv_transpose2d_with_output_padding_twice_cudnn
-- torch.backends.cudnn.enabled = True
-- x = torch.randn(1, 6, 2, 5, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose2d(6, 4, 2, stride=2, output_padding=1, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g = torch.autograd.grad(loss, x, create_graph=True)[0]
-- z = (g * g).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, z
ohm.backends.cudnn.enabled = true
x = ohm.randn(1, 6, 2, 5, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose2d(6, 4, 2, {stride = 2, output_padding = 1, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g = (ohm.autograd.grad(loss, x, {create_graph = true}))
z = (g * g):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv_transpose3d_twice
-- x = torch.randn(1, 2, 3, 2, 5, device="cuda", requires_grad=True)
-- layer = nn.ConvTranspose3d(2, 4, 2, stride=2, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(1, 2, 3, 2, 5, {device = "cuda", requires_grad = true})
layer = nn.ConvTranspose3d(2, 4, 2, {stride = 2, device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== prelu_layer_twice
-- x = torch.randn(2, 4, 3, 3, device="cuda", requires_grad=True)
-- layer = nn.PReLU(4, device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(2, 4, 3, 3, {device = "cuda", requires_grad = true})
layer = nn.PReLU(4, {device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== weight_norm
-- m = nn.Linear(80, 60, device="cuda")
-- m = nn.utils.weight_norm(m)
-- o = torch.optim.SGD(m.parameters(), lr=0.1)
-- x = torch.randn(16, 80, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- o.step()
-- y = m(x) + m(x)
-- y.sum().backward()
-- m = nn.utils.remove_weight_norm(m)
-- z = m(x)
local m, o, x, y, z
m = nn.Linear(80, 60, {device = "cuda"})
m = nn.utils.weight_norm(m)
o = ohm.optim.SGD(m:parameters(), {lr = 0.1})
x = ohm.randn(16, 80, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
o:step()
y = m(x) + m(x)
y:sum():backward()
m = nn.utils.remove_weight_norm(m)
z = m(x)
mark("end of program (globals alive)")
m = nil; sweep()
o = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== weight_norm_of_all_and_of_a_middle_dimension
-- m = nn.Conv2d(8, 600, 3, device="cuda")
-- m = nn.utils.weight_norm(m, dim=-1)
-- n = nn.Conv2d(8, 600, 3, bias=False, device="cuda", dtype=torch.float64)
-- n = nn.utils.weight_norm(n, dim=2)
-- x = torch.randn(2, 8, 6, 6, device="cuda", requires_grad=True)
-- y = m(x).sum() + n(x.double()).sum()
-- y.backward()
local m, n, x, y
m = nn.Conv2d(8, 600, 3, {device = "cuda"})
m = nn.utils.weight_norm(m, {dim = -1})
n = nn.Conv2d(8, 600, 3, {bias = false, device = "cuda", dtype = ohm.float64})
n = nn.utils.weight_norm(n, {dim = 2})
x = ohm.randn(2, 8, 6, 6, {device = "cuda", requires_grad = true})
y = m(x):sum() + n(x:double()):sum()
y:backward()
mark("end of program (globals alive)")
m = nil; sweep()
n = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== weight_norm_in_half_precision
-- m = nn.Linear(80, 60, device="cuda", dtype=torch.float16)
-- m = nn.utils.weight_norm(m)
-- n = nn.Linear(80, 60, device="cuda", dtype=torch.bfloat16)
-- n = nn.utils.parametrizations.weight_norm(n)
-- x = torch.randn(16, 80, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = m(x).sum() + n(x.bfloat16()).sum()
-- y.backward()
local m, n, x, y
m = nn.Linear(80, 60, {device = "cuda", dtype = ohm.float16})
m = nn.utils.weight_norm(m)
n = nn.Linear(80, 60, {device = "cuda", dtype = ohm.bfloat16})
n = nn.utils.parametrizations.weight_norm(n)
x = ohm.randn(16, 80, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = m(x):sum() + n(x:bfloat16()):sum()
y:backward()
mark("end of program (globals alive)")
m = nil; sweep()
n = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== weight_norm_second_gradient
-- x = torch.randn(80, 60, device="cuda", requires_grad=True)
-- w = torch.randn(80, 1, device="cuda", requires_grad=True)
-- y = torch._weight_norm(x, w, 0)
-- g, h = torch.autograd.grad((y * y).sum(), [x, w], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z.backward()
local x, w, y, g, h, z
x = ohm.randn(80, 60, {device = "cuda", requires_grad = true})
w = ohm.randn(80, 1, {device = "cuda", requires_grad = true})
y = ohm._weight_norm(x, w, 0)
g, h = table.unpack(ohm.autograd.grad((y * y):sum(), {x, w}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== spectral_norm
-- m = nn.Conv2d(8, 60, 3, device="cuda")
-- m = nn.utils.spectral_norm(m, n_power_iterations=2)
-- x = torch.randn(2, 8, 6, 6, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.eval()
-- y = m(x)
-- y.sum().backward()
-- m = nn.utils.remove_spectral_norm(m)
-- z = m(x)
local m, x, y, z
m = nn.Conv2d(8, 60, 3, {device = "cuda"})
m = nn.utils.spectral_norm(m, {n_power_iterations = 2})
x = ohm.randn(2, 8, 6, 6, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:eval()
y = m(x)
y:sum():backward()
m = nn.utils.remove_spectral_norm(m)
z = m(x)
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== spectral_norm_of_a_transposed_convolution
-- m = nn.ConvTranspose1d(60, 80, 3)
-- m = nn.utils.spectral_norm(m)
-- m = m.to("cuda")
-- x = torch.randn(2, 60, 7, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.ConvTranspose1d(60, 80, 3)
m = nn.utils.spectral_norm(m)
m = m:to("cuda")
x = ohm.randn(2, 60, 7, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== parametrized_spectral_norm
-- m = nn.Linear(80, 60, device="cuda")
-- m = nn.utils.parametrizations.spectral_norm(m)
-- x = torch.randn(16, 80, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- y = m(x)
local m, x, y
m = nn.Linear(80, 60, {device = "cuda"})
m = nn.utils.parametrizations.spectral_norm(m)
x = ohm.randn(16, 80, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
y = m(x)
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== parametrized_weight_norm
-- m = nn.Linear(60, 40, device="cuda")
-- m = nn.utils.parametrizations.weight_norm(m, dim=1)
-- x = torch.randn(16, 60, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.Linear(60, 40, {device = "cuda"})
m = nn.utils.parametrizations.weight_norm(m, {dim = 1})
x = ohm.randn(16, 60, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== a_module_of_another_dtype_after_a_call
-- m = nn.Linear(80, 60, device="cuda")
-- x = torch.randn(16, 80, device="cuda")
-- y = m(x)
-- m = m.to(dtype=torch.float64)
-- z = m(x.double())
-- z.sum().backward()
local m, x, y, z
m = nn.Linear(80, 60, {device = "cuda"})
x = ohm.randn(16, 80, {device = "cuda"})
y = m(x)
m = m:to({dtype = ohm.float64})
z = m(x:double())
z:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== lines_convolved_twice
-- m = nn.Conv1d(8, 60, 3, padding=1, device="cuda")
-- n = nn.ConvTranspose1d(60, 8, 3, padding=1, device="cuda")
-- x = torch.randn(2, 8, 70, device="cuda", requires_grad=True)
-- y = n(m(x))
-- y.sum().backward()
-- y = n(m(x))
-- y.sum().backward()
local m, n, x, y
m = nn.Conv1d(8, 60, 3, {padding = 1, device = "cuda"})
n = nn.ConvTranspose1d(60, 8, 3, {padding = 1, device = "cuda"})
x = ohm.randn(2, 8, 70, {device = "cuda", requires_grad = true})
y = n(m(x))
y:sum():backward()
y = n(m(x))
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
n = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== prelu_of_an_input_without_gradient
-- m = nn.PReLU(8, device="cuda")
-- x = torch.randn(2, 8, 50, 70, device="cuda")
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.PReLU(8, {device = "cuda"})
x = ohm.randn(2, 8, 50, 70, {device = "cuda"})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== autocast_keeps_a_cast_of_no_grad
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16): n = torch.no_grad()(lambda: m(x))(); y = m(x)
-- z = y * 2.0
local m, x, n, y, z
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  n = ohm.no_grad(function() return m(x) end)
  y = m(x)
end
z = y * 2.0
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
n = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== circular_padding_twice
-- x = torch.randn(2, 3, 4, device="cuda", requires_grad=True)
-- y = F.pad(x, (1, 1), mode="circular")
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(2, 3, 4, {device = "cuda", requires_grad = true})
y = F.pad(x, {1, 1}, {mode = "circular"})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== conv2d_circular_twice
-- x = torch.randn(1, 2, 5, 3, device="cuda", requires_grad=True)
-- layer = nn.Conv2d(2, 4, 3, padding=1, padding_mode="circular", device="cuda")
-- y = layer(x)
-- loss = (y * y).sum()
-- g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)
-- z = (g * g).sum() + (h * h).sum()
-- z = z + loss
-- z.backward()
local x, layer, y, loss, g, h, z
x = ohm.randn(1, 2, 5, 3, {device = "cuda", requires_grad = true})
layer = nn.Conv2d(2, 4, 3, {padding = 1, padding_mode = "circular", device = "cuda"})
y = layer(x)
loss = (y * y):sum()
g, h = table.unpack(ohm.autograd.grad(loss, {x, layer.weight}, {create_graph = true}))
z = (g * g):sum() + (h * h):sum()
z = z + loss
z:backward()
mark("end of program (globals alive)")
x = nil; sweep()
layer = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== written_over_by_functions
-- x = torch.randn(60, 80, device="cuda", requires_grad=True)
-- v = x * 1.5
-- v.round_()
-- torch.sin_(v)
-- v.log1p_()
-- v.select(0, 0).cos_()
-- v.rsqrt_()
-- layout(v)
-- v.sum().backward()
local x, v
x = ohm.randn(60, 80, {device = "cuda", requires_grad = true})
v = x * 1.5
v:round_()
ohm.sin_(v)
v:log1p_()
v:select(0, 0):cos_()
v:rsqrt_()
layout(v)
v:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== reciprocal_twice
-- x = torch.randn(3, 3, device="cuda", requires_grad=True)
-- w = torch.randn(3, 3, device="cuda", requires_grad=True)
-- y = torch.reciprocal(x * w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
y = ohm.reciprocal(x * w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== sine_in_place_twice
-- x = torch.randn(3, 3, device="cuda", requires_grad=True)
-- w = torch.randn(3, 3, device="cuda", requires_grad=True)
-- y = (x * w).sin_()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(3, 3, {device = "cuda", requires_grad = true})
y = (x * w):sin_()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== norm_of_all_twice
-- x = torch.randn(5, 3, 2, device="cuda", requires_grad=True)
-- y = x.norm()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(5, 3, 2, {device = "cuda", requires_grad = true})
y = x:norm()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== largest_norm_of_all_twice
-- x = torch.randn(5, device="cuda", requires_grad=True)
-- y = x.norm(p=float("inf"))
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, y, g, z
x = ohm.randn(5, {device = "cuda", requires_grad = true})
y = x:norm({p = math.huge})
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== magnitude_in_place_twice
-- x = torch.randn(2, 3, device="cuda", requires_grad=True)
-- w = torch.randn(2, 3, device="cuda", requires_grad=True)
-- y = (x * w).abs_()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(2, 3, {device = "cuda", requires_grad = true})
y = (x * w):abs_()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== std_of_one_number_twice
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- w = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = (x * w).std()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = (x * w):std()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== var_of_one_number_twice
-- x = torch.randn(1, 1, device="cuda", requires_grad=True)
-- w = torch.randn(1, 1, device="cuda", requires_grad=True)
-- y = (x * w).var()
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- layout(g)
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, 1, {device = "cuda", requires_grad = true})
y = (x * w):var()
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
layout(g)
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== lbfgs
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), max_iter=4, tolerance_change=0)
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- mark("first step")
-- opt.step(closure)
-- mark("second step")
local m, x, opt, closure
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {max_iter = 4, tolerance_change = 0})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure); sweep()
mark("first step")
opt:step(closure); sweep()
mark("second step")
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
opt = nil; sweep()
mark("globals deleted")

--== lbfgs_line_search
-- m = nn.Sequential(nn.Linear(80, 70), nn.ReLU(), nn.Linear(70, 30)).to("cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), lr=0.1, max_iter=3, history_size=2, tolerance_change=0, line_search_fn="strong_wolfe")
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- y = opt.step(closure)
-- mark("first step")
-- y = opt.step(closure)
-- mark("second step")
-- del opt
-- mark("del opt")
local m, x, opt, closure, y
m = nn.Sequential(nn.Linear(80, 70), nn.ReLU(), nn.Linear(70, 30)):to("cuda")
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {lr = 0.1, max_iter = 3, history_size = 2, tolerance_change = 0, line_search_fn = "strong_wolfe"})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
y = opt:step(closure)
mark("first step")
y = opt:step(closure)
mark("second step")
opt = nil; sweep()
mark("del opt")
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== lbfgs_of_one_iteration
-- m = nn.Linear(80, 70, device="cuda")
-- n = nn.Linear(70, 30, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS([*m.parameters(), n.bias], lr=0.1, max_iter=1, history_size=2, tolerance_change=0)
-- def closure():
--     opt.zero_grad()
--     loss = n(m(x)).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- opt.step(closure)
-- opt.step(closure)
-- opt.step(closure)
-- del x
-- del opt
-- mark("del opt")
local m, n, x, opt, closure
m = nn.Linear(80, 70, {device = "cuda"})
n = nn.Linear(70, 30, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(joined(m:parameters(), {n.bias}), {lr = 0.1, max_iter = 1, history_size = 2, tolerance_change = 0})
function closure()
  local loss
  opt:zero_grad()
  loss = n(m(x)):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure); sweep()
opt:step(closure); sweep()
opt:step(closure); sweep()
opt:step(closure); sweep()
x = nil; sweep()
opt = nil; sweep()
mark("del opt")
mark("end of program (globals alive)")
m = nil; sweep()
n = nil; sweep()
mark("globals deleted")

--== sgd_with_a_closure
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.SGD(m.parameters(), momentum=0.9)
-- def closure():
--     opt.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- y = opt.step(closure)
-- opt.step(closure)
local m, x, opt, closure, y
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.SGD(m:parameters(), {momentum = 0.9})
function closure()
  local loss
  opt:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
y = opt:step(closure)
opt:step(closure); sweep()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
opt = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== optimizer_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.Adam(m.parameters())
-- m(x).sum().backward()
-- opt.step()
-- opt2 = torch.optim.Adam(m.parameters())
-- opt2.load_state_dict(opt.state_dict())
-- del opt
-- m(x).sum().backward()
-- opt2.step()
local m, x, opt, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.Adam(m:parameters())
m(x):sum():backward()
opt:step()
opt2 = ohm.optim.Adam(m:parameters())
opt2:load_state_dict(opt:state_dict())
opt = nil; sweep()
m(x):sum():backward()
opt2:step()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
opt2 = nil; sweep()
mark("globals deleted")

--== fused_optimizer_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.AdamW(m.parameters(), fused=True)
-- m(x).sum().backward()
-- opt.step()
-- opt2 = torch.optim.AdamW(m.parameters(), fused=True)
-- opt2.load_state_dict(opt.state_dict())
-- del opt
-- m(x).sum().backward()
-- opt2.step()
local m, x, opt, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.AdamW(m:parameters(), {fused = true})
m(x):sum():backward()
opt:step()
opt2 = ohm.optim.AdamW(m:parameters(), {fused = true})
opt2:load_state_dict(opt:state_dict())
opt = nil; sweep()
m(x):sum():backward()
opt2:step()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
opt2 = nil; sweep()
mark("globals deleted")

--== lbfgs_state_is_loaded
-- m = nn.Linear(80, 70, device="cuda")
-- x = torch.randn(4, 80, device="cuda")
-- opt = torch.optim.LBFGS(m.parameters(), max_iter=3, tolerance_change=0)
-- def closure():
--     m.zero_grad()
--     loss = m(x).pow(2).mean()
--     loss.backward()
--     return loss
-- opt.step(closure)
-- opt2 = torch.optim.LBFGS(m.parameters(), max_iter=3, tolerance_change=0)
-- opt2.load_state_dict(opt.state_dict())
-- opt2.step(closure)
-- del opt
-- opt2.step(closure)
local m, x, opt, closure, opt2
m = nn.Linear(80, 70, {device = "cuda"})
x = ohm.randn(4, 80, {device = "cuda"})
opt = ohm.optim.LBFGS(m:parameters(), {max_iter = 3, tolerance_change = 0})
function closure()
  local loss
  m:zero_grad()
  loss = m(x):pow(2):mean()
  loss:backward()
  return loss
end
opt:step(closure); sweep()
opt2 = ohm.optim.LBFGS(m:parameters(), {max_iter = 3, tolerance_change = 0})
opt2:load_state_dict(opt:state_dict())
opt2:step(closure); sweep()
opt = nil; sweep()
opt2:step(closure); sweep()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
opt2 = nil; sweep()
mark("globals deleted")

--== l1_loss_of_one_number_twice
-- x = torch.randn(1, device="cuda", requires_grad=True)
-- w = torch.randn(1, device="cuda", requires_grad=True)
-- y = F.l1_loss(x, w)
-- g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
-- z = g * g
-- z.sum().backward()
local x, w, y, g, z
x = ohm.randn(1, {device = "cuda", requires_grad = true})
w = ohm.randn(1, {device = "cuda", requires_grad = true})
y = F.l1_loss(x, w)
g = (ohm.autograd.grad((y * y):sum(), x, {create_graph = true}))
z = g * g
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== kthvalue_of_expanded
-- x0 = torch.randn(1, 5, device="cuda", requires_grad=True)
-- x = x0.expand(5, 5)
-- y = x.kthvalue(1, dim=0, keepdim=True)[0]
-- y.sum().backward()
local x0, x, y
x0 = ohm.randn(1, 5, {device = "cuda", requires_grad = true})
x = x0:expand(5, 5)
y = (x:kthvalue(1, {dim = 0, keepdim = true}))
y:sum():backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== median_of_transposed
-- x0 = torch.randn(7, 2, 3, device="cuda", requires_grad=True)
-- x = x0.transpose(0, 2)
-- y = x.median(dim=0)[0]
-- z = x.median()
-- s = y.sum() + z
-- s.backward()
local x0, x, y, z, s
x0 = ohm.randn(7, 2, 3, {device = "cuda", requires_grad = true})
x = x0:transpose(0, 2)
y = (x:median({dim = 0}))
z = x:median()
s = y:sum() + z
s:backward()
mark("end of program (globals alive)")
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== scatter_reduce_mean_without_self
-- x = torch.randn(8, 3, device="cuda", requires_grad=True)
-- w = torch.randn(8, 3, device="cuda", requires_grad=True)
-- ids = torch.zeros(8, 3, dtype=torch.long, device="cuda")
-- y = x.scatter_reduce(0, ids, w, "mean", include_self=False)
-- z = y * 2.0
-- z.mean().backward()
local x, w, ids, y, z
x = ohm.randn(8, 3, {device = "cuda", requires_grad = true})
w = ohm.randn(8, 3, {device = "cuda", requires_grad = true})
ids = ohm.zeros(8, 3, {dtype = ohm.int64, device = "cuda"})
y = x:scatter_reduce(0, ids, w, "mean", {include_self = false})
z = y * 2.0
z:mean():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== scatter_reduce_amax_of_input_alone
-- x = torch.randn(2, 5, device="cuda", dtype=torch.float64, requires_grad=True)
-- w = torch.randn(2, 5, device="cuda", dtype=torch.float64)
-- ids = torch.zeros(2, 5, dtype=torch.long, device="cuda")
-- y = x.scatter_reduce(0, ids, w, "amax", include_self=False)
-- y.sum().backward()
local x, w, ids, y
x = ohm.randn(2, 5, {device = "cuda", dtype = ohm.float64, requires_grad = true})
w = ohm.randn(2, 5, {device = "cuda", dtype = ohm.float64})
ids = ohm.zeros(2, 5, {dtype = ohm.int64, device = "cuda"})
y = x:scatter_reduce(0, ids, w, "amax", {include_self = false})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== block_diag_of_vectors
-- x = torch.randn(3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- w = torch.randn(3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
-- y = torch.block_diag(x, w)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(3, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
w = ohm.randn(3, {device = "cuda", dtype = ohm.bfloat16, requires_grad = true})
y = ohm.block_diag({x, w})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== vdot_gradients
-- x = torch.randn(2, device="cuda", dtype=torch.float16, requires_grad=True)
-- w = torch.randn(2, device="cuda", dtype=torch.float16, requires_grad=True)
-- y = torch.vdot(x, w)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(2, {device = "cuda", dtype = ohm.float16, requires_grad = true})
w = ohm.randn(2, {device = "cuda", dtype = ohm.float16, requires_grad = true})
y = ohm.vdot(x, w)
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== tensordot_of_all_dims
-- x = torch.randn(1, 8, 4, device="cuda", requires_grad=True)
-- w = torch.randn(4, 8, 1, device="cuda", requires_grad=True)
-- y = torch.tensordot(x, w.transpose(0, 1), dims=2)
-- y.sum().backward()
local x, w, y
x = ohm.randn(1, 8, 4, {device = "cuda", requires_grad = true})
w = ohm.randn(4, 8, 1, {device = "cuda", requires_grad = true})
y = ohm.tensordot(x, w:transpose(0, 1), {dims = 2})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== tensordot_of_lines
-- x = torch.randn(1, 8, device="cuda", requires_grad=True)
-- w = torch.randn(8, device="cuda", requires_grad=True)
-- y = torch.tensordot(x, w, dims=1)
-- g = torch.ones_like(y)
-- y.backward(g)
local x, w, y, g
x = ohm.randn(1, 8, {device = "cuda", requires_grad = true})
w = ohm.randn(8, {device = "cuda", requires_grad = true})
y = ohm.tensordot(x, w, {dims = 1})
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== trace_of_tall_matrix
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- y = x.trace()
-- y.backward()
local x, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
y = x:trace()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== logcumsumexp_of_one_line
-- x = torch.randn(3000, device="cuda", requires_grad=True)
-- y = x.logcumsumexp(dim=0)
-- y.sum().backward()
local x, y
x = ohm.randn(3000, {device = "cuda", requires_grad = true})
y = x:logcumsumexp({dim = 0})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== masked_scatter_gradients values=true
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, 40, device="cuda", requires_grad=True)
-- keep = torch.zeros(33, dtype=torch.bool, device="cuda")
-- y = x.masked_scatter(keep, w.transpose(0, 1))
-- y.sum().backward()
local x, w, keep, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, 40, {device = "cuda", requires_grad = true})
keep = ohm.zeros(33, {dtype = ohm.bool, device = "cuda"})
y = x:masked_scatter(keep, w:transpose(0, 1))
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
keep = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== bincount_and_histc values=true
-- x = torch.randn(40, 330, device="cuda")
-- ids = torch.zeros(40, dtype=torch.long, device="cuda")
-- y = torch.bincount(ids, minlength=50)
-- h = torch.histc(x.transpose(0, 1))
-- z = torch.histc(x, bins=7, min=-1, max=1)
local x, ids, y, h, z
x = ohm.randn(40, 330, {device = "cuda"})
ids = ohm.zeros(40, {dtype = ohm.int64, device = "cuda"})
y = ohm.bincount(ids, {minlength = 50})
h = ohm.histc(x:transpose(0, 1))
z = ohm.histc(x, {bins = 7, min = -1, max = 1})
mark("end of program (globals alive)")
x = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
h = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== searchsorted_of_other_dtype
-- x = torch.randn(8, 33, device="cuda", dtype=torch.float16)
-- w = torch.randn(7, 8, device="cuda").transpose(0, 1)
-- y = torch.searchsorted(x, w)
-- layout(y)
-- i = torch.isin(w, 0.5, invert=True)
-- layout(i)
local x, w, y, i
x = ohm.randn(8, 33, {device = "cuda", dtype = ohm.float16})
w = ohm.randn(7, 8, {device = "cuda"}):transpose(0, 1)
y = ohm.searchsorted(x, w)
layout(y)
i = ohm.isin(w, 0.5, {invert = true})
layout(i)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
i = nil; sweep()
mark("globals deleted")

--== std_and_mean_of_all
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- v, m = torch.std_mean(x)
-- s = v + m
-- s.backward()
local x, v, m, s
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
v, m = ohm.std_mean(x)
s = v + m
s:backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
m = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== variance_of_one_number_of_float64
-- x = torch.randn(1, device="cuda", dtype=torch.float64, requires_grad=True)
-- y = x.var()
-- g = torch.ones_like(y)
-- y.backward(g)
local x, y, g
x = ohm.randn(1, {device = "cuda", dtype = ohm.float64, requires_grad = true})
y = x:var()
g = ohm.ones_like(y)
y:backward(g)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== indices_added_to_a_view
-- x = torch.randn(40, 33, 6, device="cuda", requires_grad=True)
-- w = torch.randn(600, 6, device="cuda", requires_grad=True)
-- i = torch.zeros(600, dtype=torch.long, device="cuda")
-- y = x.transpose(0, 1).index_put((i, i), w, accumulate=True)
-- layout(y)
-- y.sum().backward()
local x, w, i, y
x = ohm.randn(40, 33, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(600, 6, {device = "cuda", requires_grad = true})
i = ohm.zeros(600, {dtype = ohm.int64, device = "cuda"})
y = x:transpose(0, 1):index_put({i, i}, w, {accumulate = true})
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
i = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== indices_written_twice_apart
-- x = torch.randn(40, 33, 6, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- i = torch.zeros(7, 1, dtype=torch.long, device="cuda")
-- j = torch.zeros(3, dtype=torch.long, device="cuda")
-- y = x * 2.0
-- y.index_put_((i, j), w.narrow(0, 0, 6))
-- z = torch.take(y, i) + y.put(i, torch.take(w, i)).sum()
-- z.sum().backward()
local x, w, i, j, y, z
x = ohm.randn(40, 33, 6, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
i = ohm.zeros(7, 1, {dtype = ohm.int64, device = "cuda"})
j = ohm.zeros(3, {dtype = ohm.int64, device = "cuda"})
y = x * 2.0
y:index_put_({i, j}, w:narrow(0, 0, 6))
z = ohm.take(y, i) + y:put(i, ohm.take(w, i)):sum()
z:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
i = nil; sweep()
j = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== different_elements values=true
-- x = torch.randn(300, 330, device="cuda")
-- i = torch.zeros(70000, dtype=torch.long, device="cuda")
-- y = torch.unique(x.transpose(0, 1))
-- z, inverse, counts = torch.unique(i, return_inverse=True, return_counts=True)
-- u, inverse2, counts2 = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
-- v, inverse3 = x.double().unique(return_inverse=True)
-- w = torch.unique_consecutive(x.half())
local x, i, y, z, inverse, counts, u, inverse2, counts2, v, inverse3, w
x = ohm.randn(300, 330, {device = "cuda"})
i = ohm.zeros(70000, {dtype = ohm.int64, device = "cuda"})
y = ohm.unique(x:transpose(0, 1))
z, inverse, counts = ohm.unique(i, {return_inverse = true, return_counts = true})
u, inverse2, counts2 = ohm.unique_consecutive(x, {return_inverse = true, return_counts = true})
v, inverse3 = x:double():unique({return_inverse = true})
w = ohm.unique_consecutive(x:half())
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
y = nil; sweep()
z = nil; sweep()
inverse = nil; sweep()
counts = nil; sweep()
u = nil; sweep()
inverse2 = nil; sweep()
counts2 = nil; sweep()
v = nil; sweep()
inverse3 = nil; sweep()
w = nil; sweep()
mark("globals deleted")

--== quantiles_along_dims
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- y = torch.quantile(x, 0.3, dim=0, keepdim=True)
-- layout(y)
-- q = torch.rand(3, device="cuda")
-- z = torch.nanquantile(x, q, dim=1)
-- layout(z)
-- u = torch.quantile(x.detach(), 0.5, interpolation="midpoint")
-- v = torch.quantile(x.detach(), 0.5, interpolation="nearest")
-- w = y.sum() + z.sum()
-- w.backward()
local x, y, q, z, u, v, w
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
y = ohm.quantile(x, 0.3, {dim = 0, keepdim = true})
layout(y)
q = ohm.rand(3, {device = "cuda"})
z = ohm.nanquantile(x, q, {dim = 1})
layout(z)
u = ohm.quantile(x:detach(), 0.5, {interpolation = "midpoint"})
v = ohm.quantile(x:detach(), 0.5, {interpolation = "nearest"})
w = y:sum() + z:sum()
w:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
q = nil; sweep()
z = nil; sweep()
u = nil; sweep()
v = nil; sweep()
w = nil; sweep()
mark("globals deleted")

--== median_of_numbers
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- y = x.nanmedian() + torch.nanmedian(x, dim=1)[0].sum()
-- y.backward()
local x, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
y = x:nanmedian() + (ohm.nanmedian(x, {dim = 1})):sum()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== sums_under_lines
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- y = torch.trapezoid(x, w) + torch.trapezoid(x, dx=0.5)
-- z = torch.cumulative_trapezoid(x, w)
-- u = y.sum() + z.sum()
-- u.backward()
local x, w, y, z, u
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
y = ohm.trapezoid(x, w) + ohm.trapezoid(x, {dx = 0.5})
z = ohm.cumulative_trapezoid(x, w)
u = y:sum() + z:sum()
u:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
u = nil; sweep()
mark("globals deleted")

--== matrix_and_vector_of_strides
-- x = torch.randn(40, 33, 2, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- b = torch.randn(1, device="cuda", requires_grad=True)
-- y = torch.addmv(b, x.select(2, 0), w, beta=0.5)
-- z = torch.mv(x.select(2, 1), b.expand(33))
-- u = torch.addr(x.select(2, 1), y, w, alpha=2.0)
-- v = u.sum() + z.sum()
-- v.backward()
local x, w, b, y, z, u, v
x = ohm.randn(40, 33, 2, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
b = ohm.randn(1, {device = "cuda", requires_grad = true})
y = ohm.addmv(b, x:select(2, 0), w, {beta = 0.5})
z = ohm.mv(x:select(2, 1), b:expand(33))
u = ohm.addr(x:select(2, 1), y, w, {alpha = 2.0})
v = u:sum() + z:sum()
v:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
b = nil; sweep()
y = nil; sweep()
z = nil; sweep()
u = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== larger_numbers_of_both
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- y = torch.fmax(x, w) + torch.fmin(x, w)
-- y.sum().backward()
local x, w, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
y = ohm.fmax(x, w) + ohm.fmin(x, w)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== parts_written_into_copies
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(40, 5, device="cuda", requires_grad=True)
-- y = torch.slice_scatter(x.narrow(1, 1, 30), w, 1, 2, 12, 2)
-- layout(y)
-- z = torch.select_scatter(y.transpose(0, 1), w.select(1, 0), 0, 1)
-- u = z.fill_diagonal_(0.0)
-- u.sum().backward()
local x, w, y, z, u
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(40, 5, {device = "cuda", requires_grad = true})
y = ohm.slice_scatter(x:narrow(1, 1, 30), w, 1, 2, 12, 2)
layout(y)
z = ohm.select_scatter(y:transpose(0, 1), w:select(1, 0), 0, 1)
u = z:fill_diagonal_(0.0)
u:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
u = nil; sweep()
mark("globals deleted")

--== distance_of_both
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(33, device="cuda", requires_grad=True)
-- y = torch.dist(x, w) + torch.dist(x, w, p=1)
-- y.backward()
local x, w, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(33, {device = "cuda", requires_grad = true})
y = ohm.dist(x, w) + ohm.dist(x, w, {p = 1})
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== reduced_writes_over_the_input
-- x = torch.randn(40, 33, device="cuda", requires_grad=True)
-- w = torch.randn(40, 33, device="cuda", requires_grad=True)
-- ids = torch.zeros(40, 33, dtype=torch.long, device="cuda")
-- y = (x * 2.0).scatter_reduce_(0, ids, w, "mean", include_self=False)
-- y.sum().backward()
local x, w, ids, y
x = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
w = ohm.randn(40, 33, {device = "cuda", requires_grad = true})
ids = ohm.zeros(40, 33, {dtype = ohm.int64, device = "cuda"})
y = (x * 2.0):scatter_reduce_(0, ids, w, "mean", {include_self = false})
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
ids = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== whole_numbers_bit_by_bit
-- ids = torch.zeros(40, 33, dtype=torch.long, device="cuda")
-- y = torch.bitwise_and(ids, ids.int())
-- layout(y)
-- z = torch.bitwise_left_shift(ids.int(), 2)
-- layout(z)
-- u = torch.gcd(ids, ids.transpose(0, 1).narrow(0, 0, 1).narrow(1, 0, 33))
-- v = torch.tril_indices(4, 5, offset=1, device="cuda")
-- layout(v)
local ids, y, z, u, v
ids = ohm.zeros(40, 33, {dtype = ohm.int64, device = "cuda"})
y = ohm.bitwise_and(ids, ids:int())
layout(y)
z = ohm.bitwise_left_shift(ids:int(), 2)
layout(z)
u = ohm.gcd(ids, ids:transpose(0, 1):narrow(0, 0, 1):narrow(1, 0, 33))
v = ohm.tril_indices(4, 5, {offset = 1, device = "cuda"})
layout(v)
mark("end of program (globals alive)")
ids = nil; sweep()
y = nil; sweep()
z = nil; sweep()
u = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== different_bools_and_halves values=true
-- x = torch.randn(300, 330, device="cuda", dtype=torch.float16)
-- y, inverse = torch.unique(x, return_inverse=True)
-- keep = torch.zeros(300, 33, dtype=torch.bool, device="cuda")
-- z, counts = torch.unique(keep.transpose(0, 1), return_counts=True)
-- u, inverse2 = keep.unique(return_inverse=True)
-- i = torch.zeros(70000, dtype=torch.long, device="cuda").to(torch.uint8)
-- v = torch.unique(i)
local x, y, inverse, keep, z, counts, u, inverse2, i, v
x = ohm.randn(300, 330, {device = "cuda", dtype = ohm.float16})
y, inverse = ohm.unique(x, {return_inverse = true})
keep = ohm.zeros(300, 33, {dtype = ohm.bool, device = "cuda"})
z, counts = ohm.unique(keep:transpose(0, 1), {return_counts = true})
u, inverse2 = keep:unique({return_inverse = true})
i = ohm.zeros(70000, {dtype = ohm.int64, device = "cuda"}):to(ohm.uint8)
v = ohm.unique(i)
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
inverse = nil; sweep()
keep = nil; sweep()
z = nil; sweep()
counts = nil; sweep()
u = nil; sweep()
inverse2 = nil; sweep()
i = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== many_indices_of_few_rows
-- x = torch.randn(500, 40, device="cuda", requires_grad=True)
-- i = torch.zeros(20000, dtype=torch.long, device="cuda")
-- w = torch.randn(20000, device="cuda", requires_grad=True)
-- y = x[i].sum() + x.index_put((i, i), w, accumulate=True).sum()
-- y.backward()
local x, i, w, y
x = ohm.randn(500, 40, {device = "cuda", requires_grad = true})
i = ohm.zeros(20000, {dtype = ohm.int64, device = "cuda"})
w = ohm.randn(20000, {device = "cuda", requires_grad = true})
y = x:index({i}):sum() + x:index_put({i, i}, w, {accumulate = true}):sum()
y:backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
w = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== indices_of_int32
-- x = torch.randn(500, 40, device="cuda", requires_grad=True)
-- i = torch.zeros(200, dtype=torch.int, device="cuda")
-- w = torch.randn(200, 40, device="cuda", requires_grad=True)
-- y = x[i] + w
-- z = x.index_put((i,), w)
-- u = x.index_put((i,), w, accumulate=True)
-- v = y.sum() + z.sum() + u.sum()
-- v.backward()
local x, i, w, y, z, u, v
x = ohm.randn(500, 40, {device = "cuda", requires_grad = true})
i = ohm.zeros(200, {dtype = ohm.int32, device = "cuda"})
w = ohm.randn(200, 40, {device = "cuda", requires_grad = true})
y = x:index({i}) + w
z = x:index_put({i}, w)
u = x:index_put({i}, w, {accumulate = true})
v = (y:sum() + z:sum()) + u:sum()
v:backward()
mark("end of program (globals alive)")
x = nil; sweep()
i = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
u = nil; sweep()
v = nil; sweep()
mark("globals deleted")

--== rms_norm_fused
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.backward(torch.ones_like(y))
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:backward(ohm.ones_like(y))
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rms_norm_no_weight
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = F.rms_norm(x, (64,))
-- y.backward(torch.ones_like(y))
-- with torch.no_grad(): z = F.rms_norm(x, (64,))
local x, y, z
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = F.rms_norm(x, {64})
y:backward(ohm.ones_like(y))
do
  local mode1 <close> = ohm.no_grad()
  z = F.rms_norm(x, {64})
end
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== rms_norm_bfloat16
-- m = nn.RMSNorm(64, device="cuda", dtype=torch.bfloat16)
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True, dtype=torch.bfloat16)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda", dtype = ohm.bfloat16})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true, dtype = ohm.bfloat16})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rms_norm_two_dtypes
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True, dtype=torch.bfloat16)
-- y = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true, dtype = ohm.bfloat16})
y = m(x)
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rms_norm_autocast
-- m = nn.RMSNorm(64, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16):
--     h = x.bfloat16()
--     y = m(h)
--     layout(y)
--     z = m(x)
--     layout(z)
-- (y.sum()+z.sum()).backward()
local m, x, h, y, z
m = nn.RMSNorm(64, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  h = x:bfloat16()
  y = m(h)
  layout(y)
  z = m(x)
  layout(z)
end
(y:sum() + z:sum()):backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
h = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== rms_norm_of_transposed
-- m = nn.RMSNorm(100, device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x.transpose(1,2))
-- layout(y)
-- y.transpose(1,2).backward(torch.ones(32,100,64,device="cuda"))
local m, x, y
m = nn.RMSNorm(100, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x:transpose(1, 2))
layout(y)
y:transpose(1, 2):backward(ohm.ones(32, 100, 64, {device = "cuda"}))
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rms_norm_two_dims
-- m = nn.RMSNorm((100,64), device="cuda")
-- x = torch.randn(32, 100, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm({100, 64}, {device = "cuda"})
x = ohm.randn(32, 100, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rms_norm_frozen
-- m = nn.RMSNorm(64, device="cuda").requires_grad_(False)
-- x = torch.randn(8, 64, device="cuda", requires_grad=True)
-- y = m(x)
-- y.sum().backward()
-- m.requires_grad_(True)
-- y = m(x.detach())
-- y.sum().backward()
local m, x, y
m = nn.RMSNorm(64, {device = "cuda"}):requires_grad_(false)
x = ohm.randn(8, 64, {device = "cuda", requires_grad = true})
y = m(x)
y:sum():backward()
m:requires_grad_(true)
y = m(x:detach())
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_put_host_indices
-- x = torch.randn(10, 600, device="cuda", requires_grad=True)
-- v = torch.randn(3, 600, device="cuda", requires_grad=True)
-- i = torch.tensor([1, 3, 5])
-- y = x.index_put((i,), v)
-- y.sum().backward()
local x, v, i, y
x = ohm.randn(10, 600, {device = "cuda", requires_grad = true})
v = ohm.randn(3, 600, {device = "cuda", requires_grad = true})
i = ohm.tensor({1, 3, 5})
y = x:index_put({i}, v)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
i = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_put_host_adding
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, 600, device="cuda")
-- i = torch.tensor([1, 3, 1])
-- x.index_put_((i,), v, accumulate=True)
local x, v, i
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, 600, {device = "cuda"})
i = ohm.tensor({1, 3, 1})
x:index_put_({i}, v, {accumulate = true})
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
i = nil; sweep()
mark("globals deleted")

--== index_put_host_two
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, device="cuda")
-- i = torch.tensor([1, 3, 5])
-- j = torch.tensor([2], device="cuda")
-- x.index_put_((i, j), v)
-- y = x.index_put((i, i), v, accumulate=True)
local x, v, i, j, y
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, {device = "cuda"})
i = ohm.tensor({1, 3, 5})
j = ohm.tensor({2}, {device = "cuda"})
x:index_put_({i, j}, v)
y = x:index_put({i, i}, v, {accumulate = true})
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
i = nil; sweep()
j = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== index_put_host_int32
-- x = torch.randn(10, 600, device="cuda")
-- v = torch.randn(3, 600, device="cuda")
-- i = torch.tensor([1, 3, 5], dtype=torch.int32)
-- y = x[i]
-- x.index_put_((i,), v)
local x, v, i, y
x = ohm.randn(10, 600, {device = "cuda"})
v = ohm.randn(3, 600, {device = "cuda"})
i = ohm.tensor({1, 3, 5}, {dtype = ohm.int32})
y = x:index({i})
x:index_put_({i}, v)
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
i = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_training
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, num_layers=2, device="cuda")
-- layout(m.weight_ih_l0)
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- z = y * 2
-- y.sum().backward()
-- y, (h, c) = m(x, (h.detach(), c.detach()))
-- l = y.sum() + h.sum()
-- l.backward()
local m, x, y, h, c, z, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {num_layers = 2, device = "cuda"})
layout(m.weight_ih_l0)
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
layout(y)
z = y * 2
y:sum():backward()
do
  local results = m(x, {h:detach(), c:detach()})
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
l = y:sum() + h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
z = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_batch_first_bidirectional
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, batch_first=True, bidirectional=True).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- z = (y * y).sum()
-- z.backward(retain_graph=True)
-- y, (h, c) = m(x, (h, c))
-- z = (y * y).sum()
-- z.backward()
local m, x, y, h, c, z
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {batch_first = true, bidirectional = true}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
layout(y)
z = (y * y):sum()
z:backward({retain_graph = true})
do
  local results = m(x, {h, c})
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
z = (y * y):sum()
z:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== cudnn_gru_states
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, bias=False, device="cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- h0 = torch.randn(1, 3, 32, device="cuda", requires_grad=True)
-- y, h = m(x, h0)
-- l = h.sum()
-- l.backward()
local m, x, h0, y, h, l
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {bias = false, device = "cuda"})
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
h0 = ohm.randn(1, 3, 32, {device = "cuda", requires_grad = true})
do
  local results = m(x, h0)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
l = h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
h0 = nil; sweep()
y = nil; sweep()
h = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== cudnn_gru_no_grad
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, batch_first=True, device="cuda")
-- x = torch.randn(5, 3, 16, device="cuda")
-- with torch.no_grad(): y, h = m(x)
-- layout(y)
-- m.eval()
-- with torch.no_grad(): y, h = m(x)
local m, x, y, h
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {batch_first = true, device = "cuda"})
x = ohm.randn(5, 3, 16, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]; sweep()
    h = results[2]; sweep()
  end
end
layout(y)
m:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]; sweep()
    h = results[2]; sweep()
  end
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
mark("globals deleted")

--== cudnn_rnn_optimizer_and_casts
-- torch.backends.cudnn.enabled = True
-- m = nn.RNN(16, 32, nonlinearity="relu").to("cuda")
-- o = torch.optim.Adam(m.parameters())
-- x = torch.randn(5, 3, 16, device="cuda")
-- y, h = m(x)
-- y.sum().backward()
-- o.step()
-- o.zero_grad()
-- y, h = m(x)
-- h.sum().backward()
-- o.step()
-- m = m.half()
-- m = m.to("cuda")
local m, o, x, y, h
ohm.backends.cudnn.enabled = true
m = nn.RNN(16, 32, {nonlinearity = "relu"}):to("cuda")
o = ohm.optim.Adam(m:parameters())
x = ohm.randn(5, 3, 16, {device = "cuda"})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
y:sum():backward()
o:step()
o:zero_grad()
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
h:sum():backward()
o:step()
m = m:half()
m = m:to("cuda")
mark("end of program (globals alive)")
m = nil; sweep()
o = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_bfloat16
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, dtype=torch.bfloat16).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", dtype=torch.bfloat16)
-- y, (h, c) = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y, h, c
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {dtype = ohm.bfloat16}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", dtype = ohm.bfloat16})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_float16_plain
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, device="cuda", dtype=torch.float16)
-- x0 = torch.randn(3, 5, 16, device="cuda", dtype=torch.float16, requires_grad=True)
-- x = x0.transpose(0, 1)
-- y, (h, c) = m(x)
-- l = (c * c).sum()
-- l.backward()
local m, x0, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {device = "cuda", dtype = ohm.float16})
x0 = ohm.randn(3, 5, 16, {device = "cuda", dtype = ohm.float16, requires_grad = true})
x = x0:transpose(0, 1)
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
l = (c * c):sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x0 = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_autocast
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y, (h, c) = m(x)
-- layout(y)
-- y.sum().backward()
local m, x, y, h, c
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  do
    local results = m(x)
    y = results[1]; sweep()
    h = results[2]; sweep()
    c = results[3]; sweep()
  end
end
layout(y)
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
mark("globals deleted")

--== cudnn_gru_autocast_no_grad
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32, bias=False, dtype=torch.float16).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- with torch.autocast("cuda", dtype=torch.bfloat16): y, h = m(x)
-- with torch.no_grad(): n, h = m(x.half())
-- y.sum().backward()
local m, x, y, h, n
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32, {bias = false, dtype = ohm.float16}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  do
    local results = m(x)
    y = results[1]; sweep()
    h = results[2]; sweep()
  end
end
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x:half())
    n = results[1]; sweep()
    h = results[2]; sweep()
  end
end
y:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
n = nil; sweep()
mark("globals deleted")

--== cudnn_gru_copied
-- import copy
-- torch.backends.cudnn.enabled = True
-- m = nn.GRU(16, 32).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda")
-- n = copy.deepcopy(m)
-- y, h = n(x)
-- y.sum().backward()
-- n = n.to("cuda")
-- y, h = n(x)
local m, x, n, y, h
ohm.backends.cudnn.enabled = true
m = nn.GRU(16, 32):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda"})
n = ohm.copy.deepcopy(m)
do
  local results = n(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
y:sum():backward()
n = n:to("cuda")
do
  local results = n(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
n = nil; sweep()
y = nil; sweep()
h = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_packed
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, bidirectional=True).to("cuda")
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- p = nn.utils.rnn.pack_padded_sequence(x, [5, 3, 2])
-- y, (h, c) = m(p)
-- z, n = nn.utils.rnn.pad_packed_sequence(y)
-- z.sum().backward()
local m, x, p, y, h, c, z, n
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {bidirectional = true}):to("cuda")
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
p = nn.utils.rnn.pack_padded_sequence(x, {5, 3, 2})
do
  local results = m(p)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
z, n = nn.utils.rnn.pad_packed_sequence(y)
z:sum():backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
p = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
z = nil; sweep()
n = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_frozen
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 32, num_layers=2).to("cuda")
-- m.requires_grad_(False)
-- x = torch.randn(5, 3, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- l = y.mean() + c.sum()
-- l.backward()
local m, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 32, {num_layers = 2}):to("cuda")
m:requires_grad_(false)
x = ohm.randn(5, 3, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
l = y:mean() + c:sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== evaluated_attention_with_padding
-- m = nn.MultiheadAttention(16, 2, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y, w = m(x, x, x, key_padding_mask=pad)
-- layout(w)
-- with torch.no_grad(): y, w = m(x, x, x, average_attn_weights=False)
-- layout(w)
local m, x, pad, y, w
m = nn.MultiheadAttention(16, 2, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x, x, x, {key_padding_mask = pad})
    y = results[1]; sweep()
    w = results[2]; sweep()
  end
end
layout(w)
do
  local mode2 <close> = ohm.no_grad()
  do
    local results = m(x, x, x, {average_attn_weights = false})
    y = results[1]; sweep()
    w = results[2]; sweep()
  end
end
layout(w)
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
y = nil; sweep()
w = nil; sweep()
mark("globals deleted")

--== evaluated_attention_without_bias
-- m = nn.MultiheadAttention(16, 2, batch_first=True, bias=False, device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- mask = torch.zeros(8, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, x, x, key_padding_mask=pad, attn_mask=mask, need_weights=False)[0]
local m, x, pad, mask, y
m = nn.MultiheadAttention(16, 2, {batch_first = true, bias = false, device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
mask = ohm.zeros(8, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, x, x, {key_padding_mask = pad, attn_mask = mask, need_weights = false})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
mask = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== evaluated_attention_of_narrow_heads
-- m = nn.MultiheadAttention(8, 2, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(3, 2, 8, device="cuda")
-- with torch.inference_mode(): y = m(x, x, x, need_weights=False)[0]
local m, x, y
m = nn.MultiheadAttention(8, 2, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(3, 2, 8, {device = "cuda"})
do
  local mode1 <close> = ohm.inference_mode()
  y = m(x, x, x, {need_weights = false})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== evaluated_attention_of_one_element
-- m = nn.MultiheadAttention(64, 4, batch_first=True, device="cuda", dtype=torch.float16)
-- m.eval()
-- x = torch.randn(3, 1, 64, device="cuda", dtype=torch.float16)
-- with torch.no_grad(): y, w = m(x, x, x)
local m, x, y, w
m = nn.MultiheadAttention(64, 4, {batch_first = true, device = "cuda", dtype = ohm.float16})
m:eval()
x = ohm.randn(3, 1, 64, {device = "cuda", dtype = ohm.float16})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x, x, x)
    y = results[1]; sweep()
    w = results[2]; sweep()
  end
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
w = nil; sweep()
mark("globals deleted")

--== evaluated_encoder_with_padding
-- layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, device="cuda")
-- m = nn.TransformerEncoder(layer, 2)
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, src_key_padding_mask=pad)
-- y = m(x, src_key_padding_mask=pad)
-- layout(y)
local layer, m, x, pad, y
layer = nn.TransformerEncoderLayer(16, 2, 24, {batch_first = true, device = "cuda"})
m = nn.TransformerEncoder(layer, 2)
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_key_padding_mask = pad})
end
y = m(x, {src_key_padding_mask = pad})
layout(y)
mark("end of program (globals alive)")
layer = nil; sweep()
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== evaluated_layer_with_both_masks
-- m = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, norm_first=True, activation="gelu", device="cuda")
-- m.eval()
-- x = torch.randn(2, 8, 16, device="cuda")
-- pad = torch.zeros(2, 8, dtype=torch.bool, device="cuda")
-- mask = torch.triu(torch.ones(8, 8, dtype=torch.bool, device="cuda"), diagonal=1)
-- with torch.no_grad(): y = m(x, src_mask=mask, src_key_padding_mask=pad)
local m, x, pad, mask, y
m = nn.TransformerEncoderLayer(16, 2, 24, {batch_first = true, norm_first = true, activation = "gelu", device = "cuda"})
m:eval()
x = ohm.randn(2, 8, 16, {device = "cuda"})
pad = ohm.zeros(2, 8, {dtype = ohm.bool, device = "cuda"})
mask = ohm.triu(ohm.ones(8, 8, {dtype = ohm.bool, device = "cuda"}), {diagonal = 1})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_mask = mask, src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
mask = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== evaluated_layer_of_long_rows
-- m = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, device="cuda")
-- m.eval()
-- x = torch.randn(1, 1030, 8, device="cuda")
-- pad = torch.zeros(1, 1030, dtype=torch.bool, device="cuda")
-- with torch.no_grad(): y = m(x, src_key_padding_mask=pad)
local m, x, pad, y
m = nn.TransformerEncoderLayer(8, 2, 8, {batch_first = true, device = "cuda"})
m:eval()
x = ohm.randn(1, 1030, 8, {device = "cuda"})
pad = ohm.zeros(1, 1030, {dtype = ohm.bool, device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  y = m(x, {src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== layer_with_booleans
-- m = nn.TransformerEncoderLayer(96, 3, 16, batch_first=True, bias=False, device="cuda", dtype=torch.bfloat16)
-- x = torch.randn(2, 1, 96, device="cuda", dtype=torch.bfloat16)
-- mask = torch.zeros(6, 1, 1, dtype=torch.bool, device="cuda")
-- pad = torch.tensor([[False], [False]], device="cuda")
-- with torch.inference_mode(): y = m(x, src_mask=mask, src_key_padding_mask=pad)
local m, x, mask, pad, y
m = nn.TransformerEncoderLayer(96, 3, 16, {batch_first = true, bias = false, device = "cuda", dtype = ohm.bfloat16})
x = ohm.randn(2, 1, 96, {device = "cuda", dtype = ohm.bfloat16})
mask = ohm.zeros(6, 1, 1, {dtype = ohm.bool, device = "cuda"})
pad = ohm.tensor({{false}, {false}}, {device = "cuda"})
do
  local mode1 <close> = ohm.inference_mode()
  y = m(x, {src_mask = mask, src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
mask = nil; sweep()
pad = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== attention_with_a_cast_mask
-- m = nn.TransformerEncoderLayer(16, 2, 16, batch_first=True).to("cuda")
-- x = torch.randn(2, 5, 16, device="cuda")
-- pad = torch.zeros(2, 5, device="cuda")
-- with torch.autocast("cuda", dtype=torch.bfloat16): y = m(x, src_key_padding_mask=pad)
local m, x, pad, y
m = nn.TransformerEncoderLayer(16, 2, 16, {batch_first = true}):to("cuda")
x = ohm.randn(2, 5, 16, {device = "cuda"})
pad = ohm.zeros(2, 5, {device = "cuda"})
do
  local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
  y = m(x, {src_key_padding_mask = pad})
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
pad = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== lstm_projected_no_grad
-- m = nn.LSTM(4, 20, proj_size=3, device="cuda", dtype=torch.float16)
-- x = torch.randn(2, 4, device="cuda", dtype=torch.float16, requires_grad=True)
-- with torch.no_grad(): y, (h, c) = m(x)
local m, x, y, h, c
m = nn.LSTM(4, 20, {proj_size = 3, device = "cuda", dtype = ohm.float16})
x = ohm.randn(2, 4, {device = "cuda", dtype = ohm.float16, requires_grad = true})
do
  local mode1 <close> = ohm.no_grad()
  do
    local results = m(x)
    y = results[1]; sweep()
    h = results[2]; sweep()
    c = results[3]; sweep()
  end
end
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
mark("globals deleted")

--== cudnn_lstm_projected
-- torch.backends.cudnn.enabled = True
-- m = nn.LSTM(16, 20, proj_size=6, num_layers=2, bidirectional=True, device="cuda")
-- x = torch.randn(4, 16, device="cuda", requires_grad=True)
-- y, (h, c) = m(x)
-- layout(y)
-- l = y.sum() + (h * h).sum()
-- l.backward()
local m, x, y, h, c, l
ohm.backends.cudnn.enabled = true
m = nn.LSTM(16, 20, {proj_size = 6, num_layers = 2, bidirectional = true, device = "cuda"})
x = ohm.randn(4, 16, {device = "cuda", requires_grad = true})
do
  local results = m(x)
  y = results[1]; sweep()
  h = results[2]; sweep()
  c = results[3]; sweep()
end
layout(y)
l = y:sum() + (h * h):sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
h = nil; sweep()
c = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== gru_without_a_batch
-- m = nn.GRU(16, 20, batch_first=True, device="cuda")
-- x = torch.randn(4, 16, device="cuda", requires_grad=True)
-- h0 = torch.randn(1, 20, device="cuda")
-- y, h = m(x, h0)
-- l = y.sum() + h.sum()
-- l.backward()
local m, x, h0, y, h, l
m = nn.GRU(16, 20, {batch_first = true, device = "cuda"})
x = ohm.randn(4, 16, {device = "cuda", requires_grad = true})
h0 = ohm.randn(1, 20, {device = "cuda"})
do
  local results = m(x, h0)
  y = results[1]; sweep()
  h = results[2]; sweep()
end
l = y:sum() + h:sum()
l:backward()
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
h0 = nil; sweep()
y = nil; sweep()
h = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== clip_error_if_nonfinite
-- m = nn.Linear(8, 8, device="cuda")
-- x = torch.randn(16, 8, device="cuda")
-- loss = m(x).pow(2).mean()
-- loss.backward()
-- t = nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
local m, x, loss, t
m = nn.Linear(8, 8, {device = "cuda"})
x = ohm.randn(16, 8, {device = "cuda"})
loss = m(x):pow(2):mean()
loss:backward()
t = nn.utils.clip_grad_norm_(m:parameters(), 1.0, {error_if_nonfinite = true})
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
loss = nil; sweep()
t = nil; sweep()
mark("globals deleted")

--== averaged_model_and_late_group
-- m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).to("cuda")
-- head = nn.Linear(8, 4, device="cuda")
-- a = torch.optim.swa_utils.AveragedModel(m)
-- b = torch.optim.swa_utils.AveragedModel(m, avg_fn=torch.optim.swa_utils.get_ema_avg_fn(0.9))
-- opt = torch.optim.Adam(m.parameters())
-- opt.add_param_group({"params": head.parameters(), "lr": 0.01})
-- x = torch.randn(16, 8, device="cuda")
-- loss = head(m(x)).pow(2).mean()
-- loss.backward()
-- opt.step()
-- a.update_parameters(m)
-- b.update_parameters(m)
-- a.update_parameters(m)
-- b.update_parameters(m)
local m, head, a, b, opt, x, loss
m = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)):to("cuda")
head = nn.Linear(8, 4, {device = "cuda"})
a = ohm.optim.swa_utils.AveragedModel(m)
b = ohm.optim.swa_utils.AveragedModel(m, {avg_fn = ohm.optim.swa_utils.get_ema_avg_fn(0.9)})
opt = ohm.optim.Adam(m:parameters())
opt:add_param_group({params = head:parameters(), lr = 0.01})
x = ohm.randn(16, 8, {device = "cuda"})
loss = head(m(x)):pow(2):mean()
loss:backward()
opt:step()
a:update_parameters(m)
b:update_parameters(m)
a:update_parameters(m)
b:update_parameters(m)
mark("end of program (globals alive)")
m = nil; sweep()
head = nil; sweep()
a = nil; sweep()
b = nil; sweep()
opt = nil; sweep()
x = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== pooled_by_powers
-- x = torch.randn(2, 8, 9, 7, device="cuda", requires_grad=True)
-- y = F.lp_pool2d(x, 2.0, 2)
-- y.sum().backward()
local x, y
x = ohm.randn(2, 8, 9, 7, {device = "cuda", requires_grad = true})
y = F.lp_pool2d(x, 2.0, 2)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_of_one_tensor
-- x = torch.randn(4, 6, 2, device="cuda", requires_grad=True)
-- v = x * 1.5
-- y = torch.einsum("bld,bld->bld", v, v)
-- y.sum().backward()
local x, v, y
x = ohm.randn(4, 6, 2, {device = "cuda", requires_grad = true})
v = x * 1.5
y = ohm.einsum("bld,bld->bld", v, v)
y:sum():backward()
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_of_three
-- d = torch.randn(3, 12, 16, device="cuda", requires_grad=True)
-- b = torch.randn(3, 12, 8, device="cuda", requires_grad=True)
-- x = torch.randn(3, 12, 16, device="cuda", requires_grad=True)
-- u = x * 3
-- s = d * 2
-- y = torch.einsum("bld,bln,bld->bldn", s, b, u)
-- l = y.sum() + (u * u).sum()
-- l.backward()
local d, b, x, u, s, y, l
d = ohm.randn(3, 12, 16, {device = "cuda", requires_grad = true})
b = ohm.randn(3, 12, 8, {device = "cuda", requires_grad = true})
x = ohm.randn(3, 12, 16, {device = "cuda", requires_grad = true})
u = x * 3
s = d * 2
y = ohm.einsum("bld,bln,bld->bldn", s, b, u)
l = y:sum() + (u * u):sum()
l:backward()
mark("end of program (globals alive)")
d = nil; sweep()
b = nil; sweep()
x = nil; sweep()
u = nil; sweep()
s = nil; sweep()
y = nil; sweep()
l = nil; sweep()
mark("globals deleted")

--== einsum_of_a_column
-- x = torch.randn(3, 2, 6, device="cuda")
-- v = x.narrow(2, 5, 1)
-- y = torch.einsum("bld,bld->b", v, v)
local x, v, y
x = ohm.randn(3, 2, 6, {device = "cuda"})
v = x:narrow(2, 5, 1)
y = ohm.einsum("bld,bld->b", v, v)
mark("end of program (globals alive)")
x = nil; sweep()
v = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== einsum_of_one_row_beside_two
-- x = torch.randn(3, 2, 6, device="cuda")
-- w = torch.randn(3, 1, 6, device="cuda")
-- y = torch.einsum("bld,bld->b", x, w)
-- z = torch.einsum("bld,bld->bl", w, x)
local x, w, y, z
x = ohm.randn(3, 2, 6, {device = "cuda"})
w = ohm.randn(3, 1, 6, {device = "cuda"})
y = ohm.einsum("bld,bld->b", x, w)
z = ohm.einsum("bld,bld->bl", w, x)
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
y = nil; sweep()
z = nil; sweep()
mark("globals deleted")

--== squeezed_column_of_linear
-- m = nn.Linear(56, 1, device="cuda")
-- x = torch.randn(3, 56, device="cuda", requires_grad=True)
-- y = m(x).squeeze(1)
-- z = m(x).squeeze(1)
-- s = torch.stack([y, z]).transpose(0, 1).contiguous()
-- s.backward(torch.randn(3, 2, device="cuda"))
local m, x, y, z, s
m = nn.Linear(56, 1, {device = "cuda"})
x = ohm.randn(3, 56, {device = "cuda", requires_grad = true})
y = m(x):squeeze(1)
z = m(x):squeeze(1)
s = ohm.stack({y, z}):transpose(0, 1):contiguous()
s:backward(ohm.randn(3, 2, {device = "cuda"}))
mark("end of program (globals alive)")
m = nil; sweep()
x = nil; sweep()
y = nil; sweep()
z = nil; sweep()
s = nil; sweep()
mark("globals deleted")

--== eight_bits
-- w = torch.randn(16, 32, device="cuda")
-- scale = w.abs().amax(dim=1, keepdim=True) / 127.0
-- q = (w / scale).round().clamp(-127, 127).to(torch.int8)
-- x = torch.randn(4, 32, device="cuda", requires_grad=True)
-- y = F.linear(x, q.to(torch.float32) * scale)
-- y.sum().backward()
-- s = q.to(torch.int16)
-- n = q.sum()
local w, scale, q, x, y, s, n
w = ohm.randn(16, 32, {device = "cuda"})
scale = w:abs():amax({dim = 1, keepdim = true}) / 127.0
q = (w / scale):round():clamp(-127, 127):to(ohm.int8)
x = ohm.randn(4, 32, {device = "cuda", requires_grad = true})
y = F.linear(x, q:to(ohm.float32) * scale)
y:sum():backward()
s = q:to(ohm.int16)
n = q:sum()
mark("end of program (globals alive)")
w = nil; sweep()
scale = nil; sweep()
q = nil; sweep()
x = nil; sweep()
y = nil; sweep()
s = nil; sweep()
n = nil; sweep()
mark("globals deleted")

--== matmul_matrix_by_turned_batch
-- a = torch.randn(8, 30, device="cuda")
-- b = torch.randn(3, 50, 30, device="cuda")
-- c = a @ b.transpose(1, 2)
-- mark("turned")
-- d = a @ torch.randn(3, 30, 50, device="cuda")
-- mark("plain")
-- a.requires_grad_(True)
-- e = a @ b.transpose(1, 2)
-- mark("with gradient")
local a, b, c, d, e
a = ohm.randn(8, 30, {device = "cuda"})
b = ohm.randn(3, 50, 30, {device = "cuda"})
c = ohm.matmul(a, b:transpose(1, 2))
mark("turned")
d = ohm.matmul(a, ohm.randn(3, 30, 50, {device = "cuda"}))
mark("plain")
a:requires_grad_(true)
e = ohm.matmul(a, b:transpose(1, 2))
mark("with gradient")
mark("end of program (globals alive)")
a = nil; sweep()
b = nil; sweep()
c = nil; sweep()
d = nil; sweep()
e = nil; sweep()
mark("globals deleted")
