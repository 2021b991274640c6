local function text_of(value)
  if type(value) ~= "string" then error("a string is needed, not a " .. type(value)) end
  return value
end

local function list_of(value)
  if not is_list(value) then error("a list is needed, not a " .. type(value)) end
  if #value > 10000 then error("more than 10000 elements") end
  return value
end

local function length(value)
  if value == nil then return 0 end
  if type(value) == "string" then return #characters(value) end
  if type(value) == "number" then return math.abs(value) end
  if type(value) ~= "table" then error("a boolean has no length") end
  return value[1] ~= nil and #value or #sorted_keys(value)
end

local function keys_of(value)
  if type(value) ~= "table" then error("a " .. type(value) .. " has no keys") end
  if value[1] == nil then return sorted_keys(value) end
  local found = {}
  for i = 1, #value do found[i] = i - 1 end
  return found
end

local function has(value, key)
  if value == nil then return false end
  if type(value) ~= "table" then error("a " .. type(value) .. " has no keys") end
  if type(key) == "number" then return key >= 0 and key < #list_of(value) end
  if value[1] ~= nil then error("a list has no field " .. key_of(key)) end
  return value[key_of(key)] ~= nil
end

local function to_entries(value)
  local found = {}
  for _, key in ipairs(keys_of(value)) do
    found[#found + 1] = {key = key, value = or_null(item(value, key))}
  end
  return found
end

local function from_entries(value)
  local found = {}
  for _, entry in elements(value) do
    local key = get(entry, "key") or get(entry, "Key") or get(entry, "name") or get(entry, "Name")
    local content = get(entry, "value")
    if entry.value == nil then content = get(entry, "Value") end
    found[key_of(key)] = or_null(content)
  end
  return found
end

-- The sum of all elements; nil without any.
local function total(value)
  local found = nil
  for _, part in elements(value) do
    found = add(found, part)
  end
  return found
end

-- The smallest element of a list, with `sign` 1 the largest; all must be of one type.
local function extreme(value, sign)
  local found, known = nil, nil
  for i, element in ipairs(list_of(value)) do
    local kind = math.max(2, rank(element))
    if element ~= null then
      if known and known ~= kind then error("only values of one type can be compared") end
      known = kind
    end
    local order = i == 1 and sign or compare(element, found)
    if order == sign or order == 0 and sign == 1 then found = element end
  end
  if found == null then return nil end
  return found
end

-- The indices of the elements, sorted by their keys; the sort is stable.
local function order_by(values, key)
  local keys, order = {}, {}
  for i, value in ipairs(values) do
    if value == null then value = nil end
    keys[i] = key(value)
    order[i] = i
  end
  table.sort(order, function(a, b)
    local found = compare(keys[a], keys[b])
    if found == 0 then return a < b end
    return found < 0
  end)
  return order, keys
end

local function group_by(value, key)
  local values = list_of(value)
  local order, keys = order_by(values, key)
  local groups, last = {}, nil
  for _, index in ipairs(order) do
    if last and compare(keys[last], keys[index]) == 0 then
      local group = groups[#groups]
      group[#group + 1] = values[index]
    else
      groups[#groups + 1] = {values[index]}
    end
    last = index
  end
  return groups
end

local function sort_by(value, key)
  local found = {}
  for _, group in ipairs(group_by(value, key)) do
    for _, element in ipairs(group) do found[#found + 1] = element end
  end
  return found
end

local function unique_by(value, key)
  local found = {}
  for i, group in ipairs(group_by(value, key)) do found[i] = group[1] end
  return found
end

local function itself(value)
  return {value}
end

local function reversed(value)
  local found = {}
  for i = #list_of(value or {}), 1, -1 do found[#found + 1] = value[i] end
  return found
end

local function any_of(value)
  local found = false
  for _, element in elements(value) do found = found or not not element end
  return found
end

local function all_of(value)
  local found = true
  for _, element in elements(value) do found = found and not not element end
  return found
end

local function ascii_downcase(value)
  local found = {}
  for character in string.gmatch(text_of(value), ".") do
    found[#found + 1] = string.find(character, "%u") and string.byte(character) < 128 and string.lower(character)
      or character
  end
  return table.concat(found)
end

local function starts_with(value, prefix)
  return string.sub(text_of(value), 1, #text_of(prefix)) == prefix
end

local function ends_with(value, suffix)
  return #text_of(suffix) == 0 or string.sub(text_of(value), -#suffix) == suffix
end

local function without_prefix(value, prefix)
  return starts_with(value, prefix) and string.sub(value, #prefix + 1) or value
end

local function without_suffix(value, suffix)
  return ends_with(value, suffix) and string.sub(value, 1, #value - #suffix) or value
end

local function trimmed(value, at_start, at_end)
  local first, last = 1, #text_of(value)
  while at_start and first <= last and string.find(string.sub(value, first, first), "[ \t\n\11\12\r]") do
    first = first + 1
  end
  while at_end and last >= first and string.find(string.sub(value, last, last), "[ \t\n\11\12\r]") do
    last = last - 1
  end
  return string.sub(value, first, last)
end

local function to_number(value)
  if type(value) == "number" then return value end
  local digits = string.match(text_of(value), "^[+-]?(%d+%.?%d*)$") or string.match(value, "^[+-]?(%.%d+)$")
  if not digits then
    digits = string.match(value, "^[+-]?(%d+%.?%d*[eE][+-]?%d+)$") or string.match(value, "^[+-]?(%.%d+[eE][+-]?%d+)$")
  end
  if not digits then error("a text cannot be read as a number") end
  -- Karmada's tonumber reads an exponent only after a fraction.
  local whole, exponent = string.match(digits, "^(%d+)([eE].*)$")
  if whole then digits = whole .. ".0" .. exponent end
  local found = finite(tonumber(digits))
  return string.sub(value, 1, 1) == "-" and -found or found
end

local function contains(value, part)
  if type(value) == "string" and type(part) == "string" then
    return string.find(value, part, 1, true) ~= nil
  end
  if type(value) ~= "table" or type(part) ~= "table" then
    if type(value) ~= type(part) then error("contains compares values of one type") end
    return value == part
  end
  for key, wanted in pairs(part) do
    local found = false
    if part[1] == nil then
      found = value[key] ~= nil and contains(value[key], wanted)
    else
      for _, element in ipairs(value) do
        found = found or (type(element) == type(wanted) and contains(element, wanted))
      end
    end
    if not found then return false end
  end
  return true
end

local function at_path(value, path)
  for _, key in ipairs(list_of(path)) do value = item(value, key) end
  return value
end

local function join(value, separator)
  local found = {}
  for _, element in elements(value) do
    found[#found + 1] = element == nil and "" or to_text(element)
  end
  return table.concat(found, separator or "")
end

local function type_name(value)
  if type(value) ~= "table" then return type(value) == "nil" and "null" or type(value) end
  if is_empty(value) then error("an empty object and an empty list are the same in Lua") end
  return is_list(value) and "array" or "object"
end
