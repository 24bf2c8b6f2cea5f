local inner, middle, outer, z, oom
function inner(n)
  local a = ohm.randn(1000, {device = "cuda"})
  local b = ohm.randn(2000, {device = "cuda"})
  local c = ohm.empty(n, {device = "cuda"})
  return a, b, c
end
function middle(n)
  local f, g = ohm.randn(4000, {device = "cuda"})
  local ok, a, b, c = pcall(inner, n)
  if ok then return a, b, c end
  mark("inner caught")
  f = nil
  g = ohm.randn(100, {device = "cuda"})
  a = nil
  mark("behind")
  ohm.cuda.empty_cache()
  return inner(n // 2)
end
function outer(n)
  local d = ohm.randn(3000, {device = "cuda"})
  local e = {middle(n)}
  return d
end
mark("start")
oom = false
do
local ok, r = pcall(function() z = outer(1 << 45) end)
if not ok then
  mark("caught")
  oom = true
  r = nil
end
end
mark("after")
if oom then
  ohm.cuda.empty_cache()
  mark("retry")
  z = outer(100)
end
mark("end")
mark("end of program (globals alive)")
z = nil
mark("globals deleted")
