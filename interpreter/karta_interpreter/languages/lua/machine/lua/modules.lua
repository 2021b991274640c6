-- `require` and `package`, as pkg/util/lifted/lua/loadlib_safe.go and gopher-lua's baselib.go have them.

local machine, host = ...

local type, next, select, unpack, format = type, next, select, table.unpack, string.format
local converted = machine.converted
local raise, raise_argument = machine.raise, machine.raise_argument

-- What a function of Python gave: true and a value and a kind for each result, or false and a message.
local function answer(ok, ...)
  if not ok then
    raise((...))
  end
  local count = select("#", ...)
  if count == 2 then
    return converted(...)
  end
  local results = { ... }
  for index = 1, count / 2 do
    results[index] = converted(results[2 * index - 1], results[2 * index])
  end
  return unpack(results, 1, count / 2)
end

-- A function of Lua that stands for a function of Python.
local function bridge(call, name, give)
  return function(...)
    local given, count = give(...)
    return answer(call(name, unpack(given, 1, count)))
  end
end

local kube = {}
for _, name in next, { host.kube_names() } do
  kube[name] = bridge(host.call_kube, name, machine.give_leniently)
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
  for _, name in next, { host.own_names() } do
    functions[name] = bridge(host.call_own, name, machine.give)
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
      messages = messages .. "\n\t" .. found
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
