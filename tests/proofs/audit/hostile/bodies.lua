-- One body of a function of Lua in each line.
-- Without end.
while true do end
repeat until false
for i = 1, 1e18 do end
local function f() return f() end return f()
while true do pcall(error) end
while true do pcall(function() while true do end end) end
::a:: goto a
xpcall(function() error(1) end, function() while true do end end)
while true do print('x') end
while true do local t = {} end
while true do string.format('%d', 1) end
for _ in function() return 1 end do end
local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x
local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x
local t = setmetatable({}, {__gc = function() while true do end end}) t = nil collectgarbage()
return tostring(setmetatable({}, {__tostring = function() while true do end end}))
error(setmetatable({}, {__tostring = function() while true do end end}))
return setmetatable({}, {__len = function() while true do end end})
local a = setmetatable({}, {}) getmetatable(a).__index = a return a.x
-- Memory and stack.
return string.rep('x', 1e9)
return ('x'):rep(1e8):rep(1e8)
while true do string.rep('x', 1e7) end
local t = {} while true do t[#t + 1] = {#t} end
local t = {} for i = 1, 1e9 do t[i] = i end return t
local s = 'x' while true do s = s .. s end
local function f() return 1 + f() end return f()
local function f(...) return f(1, ...) end return f()
return select('#', unpack({}, 1, 1e7))
return unpack({}, 1, 2147483647)
return string.byte(('x'):rep(1e6), 1, -1)
return table.concat({}, 'x', 1, 1e8)
local t = {} t[2^53] = 1 t[-1] = 1 t[1e308] = 1 return t
return string.format('%99999999d', 1)
return string.format(('%s'):rep(1e5), unpack({}, 1, 1e5))
local t = {} for i = 1, 60 do t = {t, t} end return t
local t = {} t.t = t return t
local t = {} for i = 1, 1e5 do t = {t} end return t
local t = {} for i = 1, 2e6 do t[i] = 'x' end return t
local t = {} for i = 1, 1e6 do t['k' .. i] = i end return t
-- Work in C that no hook stops.
local s = "x" for i = 1, 20 do s = s .. s end return s:find(('a?'):rep(30) .. ('a'):rep(30))
local s = "x" for i = 1, 20 do s = s .. s end return s:find(('.*'):rep(20) .. 'b')
local s = "x" for i = 1, 20 do s = s .. s end return s:find(('x-'):rep(50) .. 'b')
local s = "x" for i = 1, 20 do s = s .. s end return (s:gsub('.', '%0%0%0%0'))
local s = "x" for i = 1, 20 do s = s .. s end while true do s:gsub('x', 'y') end
local s = "x" for i = 1, 20 do s = s .. s end return s:rep(1e4):reverse():upper():lower()
local s = "x" for i = 1, 20 do s = s .. s end return s:find('%f[b]x*%f[b]')
local s = "x" for i = 1, 20 do s = s .. s end return s:find('%b()x*%b()')
local s = "x" for i = 1, 20 do s = s .. s end return s:match(('(x*)'):rep(32) .. 'b')
local t = {} for i = 1, 1e5 do t[i] = 1e5 - i end table.sort(t, function() return true end) return #t
local t = {} for i = 1, 1e6 do t[i] = i % 7 end while true do table.sort(t) end
return tonumber(('1'):rep(1e8))
return math.fmod(1e308, 1e-308)
local s = "x" for i = 1, 20 do s = s .. s end return s < s .. 'x', #s:format()
-- Errors and output.
error(('x'):rep(1e8))
error({})
error(nil)
error()
error(('\255'):rep(1e6))
print(('x'):rep(1e8))
for i = 1, 1e6 do print(i) end error('end')
return nil .. 'x'
return #nil
return (nil)()
return {}[nil]
local t = {} t[nil] = 1
local t = {} t[0/0] = 1
error('\0\1\27[31m\n{"a":1}')
-- Ways out.
return coroutine.wrap(function() while true do end end)()
return coroutine.create(print)
coroutine.yield(1)
return load('while true do end')()
return loadstring('while true do end')()
return dofile('/etc/passwd')
return io.open('/etc/passwd'):read('*a')
return os.execute('id')
os.exit(1)
return os.getenv('PATH')
return require('os')
return require('/etc/passwd')
return package.loadlib('libc.so.6', 'exit')
return debug.getregistry()
debug.sethook()
debug.setmetatable('', {__index = function() while true do end end})
return getfenv(0)
setfenv(0, {})
return python.eval('1')
return python.builtins.open('/etc/passwd')
return string.dump(function() end)
getmetatable('').__index = nil
string.rep = nil
_G.string = nil
rawset(_G, 'error', nil) error(1)
for k in pairs(_G) do _G[k] = nil end
collectgarbage('stop')
return newproxy(true)
return loadstring('\27Lua')
return setmetatable(_G, {__index = error}).x
-- Results that are no answer.
return 0/0
return 1/0
return function() end
return print
return -2^63
return 1e400
return '\255\254'
return {[1] = 1, x = 2}
return {[1] = 1, [3] = 3}
return
return 1, 2, 3
return o, o, o
local kube = require('kube') while true do kube.resourceAdd('1', '1') end
return require('kube').accuratePodRequirements({spec = ('x'):rep(1e6)})
return require('kube').resourceAdd(('9'):rep(1e6), '1')
local karta = require('karta') while true do pcall(karta.getReplicas, o) end
