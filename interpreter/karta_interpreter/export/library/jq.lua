-- What a definition has: a script is written without the branches for what its definition has not.
local with = {}

-- The null of lists and of objects that an expression makes.
local null = {}

-- The value at a path of keys; nil at the end of an incomplete path.
local function get(value, ...)
  for _, key in ipairs({...}) do
    if value == nil then return nil end
    if type(value) ~= "table" or value[1] ~= nil then
      error("a " .. type(value) .. " has no field " .. key)
    end
    value = value[key]
    if with.null and value == null then value = nil end
  end
  return value
end

-- As get; nil where a value on the path is not an object.
local function peek(value, ...)
  for _, key in ipairs({...}) do
    if type(value) ~= "table" or value[1] ~= nil then return nil end
    value = value[key]
    if with.null and value == null then value = nil end
  end
  return value
end

local function is_list(value)
  return type(value) == "table" and (value[1] ~= nil or next(value) == nil)
end

local function is_object(value)
  return type(value) == "table" and value[1] == nil
end

local function is_empty(value)
  return type(value) == "table" and next(value) == nil
end

local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Iterates over a list, or over an object in the order of its keys. Nil has no elements, nor has any other value that
-- is not a list and no object, with `tolerant`.
local function each(value, tolerant)
  if value == nil or tolerant and type(value) ~= "table" then value = {} end
  if type(value) ~= "table" then error("cannot iterate over a " .. type(value)) end
  local keys, index = value[1] == nil and sorted_keys(value), 0
  if #(keys or value) > 10000 then error("more than 10000 elements") end
  return function()
    index = index + 1
    local key = keys and keys[index] or index
    local element = value[key]
    if element == nil then return nil end
    if with.null and element == null then element = nil end
    return key, element
  end
end

-- As each, for functions that fail for null.
local function elements(value)
  if value == nil then error("cannot iterate over null") end
  return each(value)
end

-- A list with `null` in the place of nil.
local function list(...)
  local found = {}
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value == nil then value = null end
    found[i] = value
  end
  return found
end

-- The value of a field: `null` in the place of nil.
local function or_null(value)
  if value == nil then return null end
  return value
end

-- A result without nulls; a null amount of `requests` or `limits` becomes 0.
local function cleaned(value, name)
  if type(value) ~= "table" or value == null then return value end
  local found = {}
  if value[1] ~= nil then
    for _, part in ipairs(value) do
      if part ~= null then found[#found + 1] = cleaned(part) end
    end
    return found
  end
  for key, part in pairs(value) do
    if part ~= null then
      found[key] = cleaned(part, key)
    elseif name == "requests" or name == "limits" then
      found[key] = "0"
    end
  end
  return found
end

local function cleaned_all(values)
  for i, value in ipairs(values) do values[i] = cleaned(value) end
  return values
end

local function append(found, value)
  if value == nil then value = null end
  found[#found + 1] = value
end

-- An expression of a Karta has at most 999 results.
local function limited_to(most, found)
  if #found > most then error("more than " .. most .. " results") end
  return found
end

local function limited(found)
  return limited_to(999, found)
end

-- The value of an element: nil in the place of `null`.
local function non_null(value)
  if value == null then return nil end
  return value
end

-- The element of a list by an index from 0, or by a negative index from the end; the field of an object by a key.
local function item(value, index)
  if value == nil then return nil end
  if type(index) == "string" then return get(value, index) end
  if not is_list(value) then error("a " .. type(value) .. " has no elements") end
  index = index < 0 and #value + index + -index % 1 + 1 or index - index % 1 + 1
  local found = value[index]
  if found == null then return nil end
  return found
end

-- jq's order: null < false < true < numbers < strings < lists < objects.
local function rank(value)
  if value == nil or value == null then return 0 end
  if type(value) == "boolean" then return value and 2 or 1 end
  if type(value) == "table" then return value[1] == nil and next(value) ~= nil and 6 or 5 end
  return type(value) == "number" and 3 or 4
end

-- Compares two values by that order: -1, 0 or 1.
local function compare(a, b)
  local left, right = rank(a), rank(b)
  if left ~= right then a, b = left, right end
  if left ~= right or left == 3 or left == 4 then return a < b and -1 or a > b and 1 or 0 end
  if left < 3 then return 0 end
  local keys, others = a, b
  if left == 6 then
    keys, others = sorted_keys(a), sorted_keys(b)
    local order = compare(keys, others)
    if order ~= 0 then return order end
  end
  for i = 1, #keys < #others and #keys or #others do
    local key = left == 6 and keys[i] or i
    local order = compare(a[key], b[key])
    if order ~= 0 then return order end
  end
  return compare(#keys, #others)
end

local function less(a, b)
  return compare(a, b) < 0
end

-- value > number in jq's order: strings, lists and objects are greater than numbers.
local function is_above(value, number)
  if type(value) == "number" then return value > number end
  return type(value) == "string" or type(value) == "table"
end

-- value < number in jq's order: null, false and true are less than numbers.
local function is_below(value, number)
  if type(value) == "number" then return value < number end
  return value == nil or type(value) == "boolean"
end

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not equal(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function copy(value)
  if type(value) ~= "table" then return value end
  if with.null and value == null then return value end
  local found = {}
  for key, part in pairs(value) do found[key] = copy(part) end
  return found
end

local function number(value)
  if type(value) ~= "number" then error("a number is needed, not a " .. type(value)) end
  return value
end

local function finite(value)
  if value - value ~= 0 then -- NaN or infinite
    error("the result is too large for a number")
  end
  return value
end

local function joined(a, b)
  local found = {}
  for _, value in ipairs(a) do found[#found + 1] = value end
  for _, value in ipairs(b) do found[#found + 1] = value end
  return found
end

local function merged_fields(a, b)
  local found = {}
  for key, value in pairs(a) do found[key] = value end
  for key, value in pairs(b) do found[key] = value end
  return found
end

local function add(a, b)
  if a == nil then return b end
  if b == nil then return a end
  if type(a) == "number" and type(b) == "number" then return finite(a + b) end
  if type(a) == "string" and type(b) == "string" then return a .. b end
  if is_list(a) and is_list(b) then return joined(a, b) end
  if is_object(a) and is_object(b) then return merged_fields(a, b) end
  error("a " .. type(a) .. " and a " .. type(b) .. " cannot be added")
end

local function subtract(a, b)
  if not (is_list(a) and is_list(b)) then return finite(number(a) - number(b)) end
  local found = {}
  for _, value in ipairs(a) do
    local gone = false
    for _, other in ipairs(b) do gone = gone or equal(value, other) end
    if not gone then found[#found + 1] = value end
  end
  return found
end

local function multiply(a, b)
  if type(a) ~= "number" or type(b) ~= "number" then error("a number is needed for a product") end
  if a * b - a * b ~= 0 then error("the result is too large for a number") end
  return a * b
end

local function merge(a, b)
  if not (is_object(a) and is_object(b)) then return multiply(a, b) end
  local found = merged_fields(a, b)
  for key, value in pairs(b) do
    if is_object(a[key]) and is_object(value) then found[key] = merge(a[key], value) end
  end
  return found
end

local function characters(value)
  local found = {}
  for i = 1, #value do
    local byte = string.byte(value, i)
    if byte < 128 or byte >= 192 then found[#found + 1] = "" end
    found[#found] = (found[#found] or "") .. string.sub(value, i, i)
  end
  return found
end

local function split(value, separator)
  if type(value) ~= "string" or type(separator) ~= "string" then error("split needs strings") end
  local found, start = {}, 1
  if value == "" then return found end
  if separator == "" then
    return characters(value)
  end
  while true do
    local from, to = string.find(value, separator, start, true)
    found[#found + 1] = string.sub(value, start, (from or 0) - 1)
    if not from then return found end
    start = to + 1
  end
end

local function divide(a, b)
  if type(a) == "string" then return split(a, b) end
  if number(b) == 0 then error("cannot divide by zero") end
  return finite(number(a) / b)
end

local function truncated(value)
  return value < 0 and math.ceil(number(value)) or math.floor(number(value))
end

local function modulo(a, b)
  local divisor = math.abs(truncated(b))
  if divisor == 0 then error("cannot divide by zero") end
  return math.fmod(truncated(a), divisor)
end

local function negate(value)
  return -number(value)
end

-- A number as jq prints it; an error where Lua prints another text.
local function number_text(value)
  if value == math.floor(value) and math.abs(value) < 2 ^ 53 then
    return string.format("%d", value)
  end
  local text = tostring(value)
  if string.find(text, "e", 1, true) or tonumber(text) ~= value then error("Lua and jq print this number differently") end
  return text
end

local function json_text(value)
  if string.find(value, "[%c\127]") then error("Lua and jq print this text differently") end
  local found = {}
  for character in string.gmatch(value, ".") do
    if character == '"' or character == "\\" then character = "\\" .. character end
    found[#found + 1] = character
  end
  return '"' .. table.concat(found) .. '"'
end

local function to_json(value)
  if value == nil or value == null then return "null" end
  if type(value) == "string" then return json_text(value) end
  if type(value) == "number" then return number_text(value) end
  if type(value) == "boolean" then return tostring(value) end
  if is_empty(value) then error("an empty object and an empty list are the same in Lua") end
  local found, is_array = {}, is_list(value)
  for key, part in each(value) do
    found[#found + 1] = (is_array and "" or json_text(key) .. ":") .. to_json(part)
  end
  return (is_array and "[" or "{") .. table.concat(found, ",") .. (is_array and "]" or "}")
end

local function to_text(value)
  return type(value) == "string" and value or to_json(value)
end

-- A piece of a text that is repeated for each element of a list.
local function short_text(value)
  if type(value) == "table" then error("an object or a list is repeated in several texts") end
  local text = to_text(value)
  if #text > 256 and #characters(text) > 256 then error("more than 256 characters are repeated") end
  return text
end

local function key_of(value)
  if type(value) ~= "string" then error("a " .. type(value) .. " cannot be the key of an object") end
  return value
end

-- The outputs before the first error.
local function tried(fill)
  local found = {}
  pcall(fill, found)
  return found
end

-- The elements or characters from `start` to before `stop`: from 0, or from the end if negative; nil for an open end.
local function slice(value, start, stop)
  if value == nil then return nil end
  local parts = value
  if type(value) == "string" then parts = characters(value) end
  if not is_list(parts) then error("a " .. type(value) .. " cannot be sliced") end
  local size, found = #parts, {}
  start, stop = math.floor(start or 0), math.ceil(stop or size)
  if start < 0 then start = math.max(0, size + start) end
  if stop < 0 then stop = size + stop end
  for i = start + 1, math.min(stop, size) do found[#found + 1] = parts[i] end
  return type(value) == "string" and table.concat(found) or found
end
