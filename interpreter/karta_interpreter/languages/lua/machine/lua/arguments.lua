-- The arguments of library functions, as gopher-lua checks them (auxlib.go).

local machine = ...

local type, tonumber, floor = type, tonumber, math.floor
local raise, raise_argument, number_text, materialize =
  machine.raise, machine.raise_argument, machine.number_text, machine.materialize

local LONGEST = 1000000 -- pkg/util/lifted/lua/string_safe.go

function machine.string_argument(value, position, name)
  if type(value) == "number" then
    return number_text(value)
  end
  if type(value) ~= "string" then
    raise_argument(position, name, "string", value)
  end
  if #value > LONGEST then
    raise("string length " .. #value .. " exceeds the maximum allowed input string length " .. LONGEST
      .. " in Karmada lua string lib, please check your lua script.")
  end
  return value
end

-- A number, or text that is one.
function machine.number_argument(value, position, name)
  local number = tonumber(value)
  if not number then
    raise_argument(position, name, "number", value)
  end
  return number
end

-- A number, cut to an integer.
function machine.integer_argument(value, position, name, default)
  if value == nil and default then
    return default
  end
  if type(value) ~= "number" then
    raise_argument(position, name, "number", value)
  end
  return value < 0 and -floor(-value) or floor(value)
end

function machine.table_argument(value, name)
  if type(value) ~= "table" then
    raise_argument(1, name, "table", value)
  end
  materialize(value)
  return value
end
