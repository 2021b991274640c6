-- Objects that a script is given: a field is converted when the script first reads it. Most scripts read few, and hand many
-- on as they are, to a function of Karmada's or as a part of their results.

local machine, host = ...

local type, next, rawget, rawset, rawlen, setmetatable, getmetatable =
  type, next, rawget, rawset, rawlen, setmetatable, getmetatable
local take, names, rest = host.take, host.names, host.rest

-- By table, the number by which `host` knows an object none of whose fields is converted; and one some of which are.
local unread, partly_read

local Lazy = {}

local function lazy_table(number)
  local object = setmetatable({}, Lazy)
  unread[object] = number
  return object
end

-- A value as `host` gives it, for objects are given as numbers.
local function converted(value, kind)
  if kind == "object" then
    return lazy_table(value)
  elseif kind == "objects" then
    for index = 1, #value do
      value[index] = lazy_table(value[index])
    end
  end
  return value
end

local function number_of(object)
  local number = partly_read[object]
  if not number then
    number = unread[object]
    partly_read[object], unread[object] = number, nil
  end
  return number
end

function Lazy.__index(object, name)
  if type(name) ~= "string" then
    return nil
  end
  local value = converted(take(number_of(object), name))
  if value ~= nil then
    rawset(object, name, value)
  end
  return value
end

function Lazy.__newindex(object, name, value)
  if type(name) == "string" then
    take(number_of(object), name)
  end
  rawset(object, name, value)
end

function Lazy.fill(object)
  local number = number_of(object)
  for _, name in next, names(number) do
    rawset(object, name, converted(take(number, name)))
  end
  partly_read[object] = nil
  setmetatable(object, nil)
end

-- Convert all of a table, for functions that see more than its keys.
function machine.materialize(object)
  local metatable = getmetatable(object)
  if metatable then
    metatable.fill(object)
  end
end

-- The number of an object that is as it was given, nil for any other table.
function machine.unread(object)
  return unread[object]
end

-- The JSON text of the fields of a table that are not converted, without braces; "" when there are none.
function machine.rest(object)
  local number = unread[object] or partly_read[object]
  return number and rest(number) or ""
end

-- Begin a run without lazy tables.
function machine.reset()
  unread, partly_read = {}, {}
end

machine.converted = converted
