-- Objects that a script is given: a field is converted when the script first reads it. Most scripts read few, and hand many
-- on as they are, to a function of Karmada's or as a part of their results.

local machine, host = ...

local type, next, rawset, setmetatable, getmetatable = type, next, rawset, setmetatable, getmetatable
local take, names, rest = host.take, host.names, host.rest

-- By table, the number by which `host` knows an object none of whose fields is converted; and one some of which are.
local untouched, touched

local Lent = {}

local function lend(number)
  local object = setmetatable({}, Lent)
  untouched[object] = number
  return object
end

-- A value as `host` gives it, for objects are given as numbers.
local function converted(value, kind)
  if kind == "object" then
    return lend(value)
  elseif kind == "objects" then
    for index = 1, #value do
      value[index] = lend(value[index])
    end
  end
  return value
end

local function number_of(object)
  local number = touched[object]
  if not number then
    number = untouched[object]
    touched[object], untouched[object] = number, nil
  end
  return number
end

function Lent.__index(object, name)
  if type(name) ~= "string" then
    return nil
  end
  local value = converted(take(number_of(object), name))
  if value ~= nil then
    rawset(object, name, value)
  end
  return value
end

function Lent.__newindex(object, name, value)
  if type(name) == "string" then
    take(number_of(object), name)
  end
  rawset(object, name, value)
end

function Lent.fill(object)
  local number = number_of(object)
  for _, name in next, names(number) do
    rawset(object, name, converted(take(number, name)))
  end
  touched[object] = nil
  setmetatable(object, nil)
end

-- Convert all of a table, for functions that see more than its keys.
function machine.touch(object)
  local metatable = getmetatable(object)
  if metatable then
    metatable.fill(object)
  end
end

-- The number of an object that is as it was given, nil for any other table.
function machine.untouched(object)
  return untouched[object]
end

-- The JSON text of the fields of a table that are not converted, without braces; "" when there are none.
function machine.rest(object)
  local number = untouched[object] or touched[object]
  return number and rest(number) or ""
end

-- Begin a run in which nothing is lent yet.
function machine.return_all()
  untouched, touched = {}, {}
end

machine.converted = converted
