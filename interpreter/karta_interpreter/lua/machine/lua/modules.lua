-- `require` and `package`, as pkg/util/lifted/lua/loadlib_safe.go and gopher-lua's baselib.go have them.

local machine, host = ...

local type, next, unpack, select, format = type, next, unpack, select, string.format
local send, receive, lend, untouched = machine.send, machine.receive, machine.lend, machine.untouched
local check, hold, stop = machine.check, machine.hold, machine.stop
local raise, raise_argument = machine.raise, machine.raise_argument

local LATE = "late"
local SHORT = 1024 -- bytes of a string that needs no counting

-- What a function of Python gave: its results, an error with its message, or nothing when it kept us too long.
local function answer(ok, left, ...)
  if ok == LATE then
    check() -- it may have been another process that took the time
  end
  if ok and select("#", ...) == 1 then
    return ... -- one token is one value
  end
  local value, number = ...
  if ok and value == nil and number and number > 0 and select("#", ...) == 2 then
    return lend(number)
  end
  if ok then
    local values, size = receive(left, ...)
    return unpack(values, 1, size)
  end
  if ok == nil then
    stop("time")
  end
  raise(left)
end

-- A function of Lua that stands for a function of Python; strings and an untouched object need no work.
local function bridge(call, about, give)
  return function(...)
    local first, second = ...
    local count, kind = select("#", ...), type(first)
    if kind == "string" and #first <= SHORT and (count == 1 or count == 2 and type(second) == "string" and #second <= SHORT) then
      return answer(call(...))
    end
    local number = count == 1 and kind == "table" and untouched(first)
    if number then
      return answer(about(number))
    end
    return answer(call(send(give(count, ...))))
  end
end

local kube = {}
for name, call in next, host.kube do
  kube[name] = bridge(call, host.kube_about[name], machine.give_arguments)
end

local function load_kube()
  local functions = {}
  for name, call in next, kube do
    functions[name] = call
  end
  return functions
end

-- The Karta's own answers differ from run to run, so their functions are asked for by name.
local function load_karta()
  local functions = {}
  for _, name in next, { host.names() } do
    functions[name] = bridge(function(...)
      return host.own(name, ...)
    end, function(number)
      return host.own(name, false, number)
    end, machine.give)
  end
  return functions
end

local function loadlib()
  raise("loadlib is not supported")
end

local package, loaded, loaders, loading, has_karta -- those of the run that goes on

local function from_preload(name)
  local preload = package.preload
  if type(preload) ~= "table" then
    raise("package.preload must be a table")
  end
  local loader = preload[name]
  if loader == nil then
    return format("no field package.preload['%s']", name)
  end
  return loader
end

local function find_loader(name)
  local messages = ""
  for index = 1, #loaders do
    local found = loaders[index](name)
    if type(found) == "function" then
      return found
    end
    if type(found) == "string" then
      messages = hold(messages .. "\n\t" .. found)
    end
  end
  raise(format("module %s not found:%s, ", name, messages))
end

-- The fields of an environment's `package`, which is where `require` looks from then on.
function machine.package(object)
  local names = { "_G", "string", "table", "math", "os" }
  for index = 1, #names do
    loaded[names[index]] = machine.global(names[index])
  end
  loaders = { from_preload }
  local preload = { kube = load_kube, karta = has_karta and load_karta or nil }
  local fields = { loadlib = loadlib, preload = preload, loaded = loaded, loaders = loaders }
  package = object or fields
  return fields
end

function machine.require(name)
  if type(name) ~= "string" then
    raise_argument(1, "require", "string", name)
  end
  if not package and name ~= "kube" then
    machine.package() -- which knows the libraries as well
  end
  local module = loaded[name]
  if module == loading then
    raise("loop or previous error loading module: " .. name)
  end
  if module then
    return module
  end
  if not package then
    loaded.kube = load_kube()
    return loaded.kube
  end
  local loader = find_loader(name)
  loaded[name] = loading
  local result = loader(name)
  if loaded[name] == loading then
    loaded[name] = result == nil or result
  end
  return loaded[name]
end

-- Begin a run in which nothing is loaded yet.
function machine.unload(karta)
  package, loaded, loaders, loading, has_karta = nil, {}, nil, {}, karta
end
