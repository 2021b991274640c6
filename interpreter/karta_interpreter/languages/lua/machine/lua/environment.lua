-- The environment of one run: every table that a script can write to is new, every function is shared by all runs.

local machine, host = ...

local base, strings, tables = machine.base, machine.strings, machine.tables
local type, next, rawget, rawset, setmetatable, select, unpack, ipairs =
  type, next, rawget, rawset, setmetatable, select, table.unpack, ipairs
local floor, fmod, natural, raise = math.floor, math.fmod, math.log, machine.raise
local find = string.find
local string_argument, number_argument, integer_argument, table_argument =
  machine.string_argument, machine.number_argument, machine.integer_argument, machine.table_argument

local LARGEST = 1.7976931348623157e308 -- what gopher-lua has for math.huge
local MODULUS = 2147483647
local MOST_UNPACKED = 7000 -- values that the stack of a C function takes, where gopher-lua's registry takes some 5000
local LAST_UNPACKED = 2147483646 -- the C function counts in 32 bits, and up to the index behind the last one

local string_metatable = getmetatable("")
local seed = 1

-- A generator for each run: that of the C library is shared by the whole process.
local function random(low, high)
  seed = seed * 16807 % MODULUS
  local fraction = seed / MODULUS
  if low == nil then
    return fraction
  end
  low = integer_argument(low, 1, "random")
  if high == nil then
    low, high = 1, low
  end
  high = integer_argument(high, 2, "random")
  if low > high then
    raise("bad argument to random (interval is empty)")
  end
  return low + floor(fraction * (high - low + 1))
end

local function randomseed(number)
  seed = integer_argument(number, 1, "randomseed") % (MODULUS - 1) + 1
end

-- The remainder as gopher-lua computes it (vm.go).
local function modulo(a, b)
  a, b = number_argument(a, 1, "mod"), number_argument(b, 2, "mod")
  local rest = fmod(a, b)
  return (b > 0 and rest < 0 or b < 0 and rest > 0) and rest + b or rest
end

-- The values of an array: the C function computes the number of them before it looks at it, and may get it wrong.
local function unpacked(array, first, last)
  array = table_argument(array, "unpack")
  first = integer_argument(first, 2, "unpack", 1)
  last = integer_argument(last, 3, "unpack", #array)
  if first > last then
    return
  end
  if not (last - first < MOST_UNPACKED and first >= -LAST_UNPACKED and last <= LAST_UNPACKED) then
    raise("registry overflow")
  end
  return unpack(array, first, last)
end

local function field(date, name, default)
  local value = date[name]
  return type(value) == "number" and value or default
end

-- pkg/util/lifted/lua/oslib_safe.go
local function time(date)
  if date == nil then
    return host.now()
  end
  table_argument(date, "time")
  return host.time(field(date, "year", -1), field(date, "month", -1), field(date, "day", -1),
    field(date, "hour", 12), field(date, "min", 0), field(date, "sec", 0))
end

local function date(...)
  local form, moment = ...
  form = select("#", ...) == 0 and "%c" or string_argument(form, 1, "date")
  moment = moment ~= nil and integer_argument(moment, 2, "date") or nil
  if not find(form, "^!*%*t") then
    return host.date(form, moment)
  end
  local year, month, day, hour, min, sec, wday = host.date_fields(form, moment)
  return { year = year, month = month, day = day, hour = hour, min = min, sec = sec, wday = wday, yday = 0, isdst = false }
end

for name, value in next, { type = type, select = select, unpack = unpacked, ipairs = ipairs } do
  base[name] = value
end
base._VERSION, base._GOPHER_LUA_VERSION, base.require = "Lua 5.1", "GopherLua 0.1", machine.require

-- Without the base that Lua 5.2 takes.
local function log(number)
  return natural(number_argument(number, 1, "log"))
end

local function log10(number)
  return natural(number_argument(number, 1, "log10"), 10)
end

local mathematics = { log = log, log10 = log10, random = random, randomseed = randomseed, mod = modulo, huge = LARGEST }
for _, name in next, { "atan2", "fmod", "ldexp", "pow" } do -- in C they complain about the second argument first
  local call, check = math[name], name == "ldexp" and integer_argument or number_argument
  mathematics[name] = function(a, b)
    return call(number_argument(a, 1, name), check(b, 2, name))
  end
end
for name, value in next, math do
  mathematics[name] = mathematics[name] or value
end
strings.gfind = strings.gmatch

-- What makes a table that gets its fields when a script first touches it. It loses its metatable last: where the stack
-- ends before, which a script may catch, the next touch begins again.
local function library(fields)
  local metatable, filling = {}, {}

  function metatable.fill(object)
    setmetatable(object, filling)
    for name, value in next, fields(object) do
      object[name] = value
    end
    setmetatable(object, nil)
  end

  function metatable.__index(object, name)
    metatable.fill(object)
    return object[name]
  end

  function metatable.__newindex(object, name, value)
    metatable.fill(object)
    object[name] = value
  end

  filling.fill, filling.__index = metatable.fill, metatable.__index

  return function()
    return setmetatable({}, metatable)
  end
end

local function fixed(fields)
  return library(function()
    return fields
  end)
end

local libraries = {
  string = library(function(object)
    strings.__index = object
    return strings
  end),
  table = fixed(tables),
  math = fixed(mathematics),
  os = fixed({ time = time, date = date }),
  package = library(machine.package),
}

local environment -- that of the run that goes on

-- An environment has of its own what was touched; the functions are those of `base`, which nobody can write to.
local Environment = { __index = base }

setmetatable(base, {
  __index = function(_, name)
    local new = libraries[name]
    if new then
      rawset(environment, name, new())
    elseif name == "_G" then
      rawset(environment, "_G", environment)
    end
    return rawget(environment, name)
  end,
})

function Environment.fill(object)
  for name in next, libraries do
    rawset(object, name, object[name] or libraries[name]())
  end
  rawset(object, "_G", object)
  for name, value in next, base do
    rawset(object, name, value)
  end
  setmetatable(object, nil)
end

-- A global that gets its first value: the names of `base` are taken over before one of them is.
function Environment.__newindex(object, name, value)
  if base[name] ~= nil then
    Environment.fill(object)
  end
  rawset(object, name, value)
end

-- A global of the environment, as the script has it.
function machine.global(name)
  return environment[name]
end

-- A new environment; its strings get their methods from its own string library.
function machine.environment(start, has_karta)
  machine.unload(has_karta)
  seed = start
  environment = setmetatable({}, Environment)
  local string = libraries.string()
  rawset(environment, "string", string)
  string_metatable.__index = string
  return environment
end
