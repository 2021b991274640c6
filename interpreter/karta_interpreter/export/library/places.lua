-- The path that a value is read from, for writing it back: the value is min(cap, max(floor, field * factor)), and
-- `default` the value of an unset field.
local function at(...)
  return {path = {...}, factor = 1}
end

-- The origins of the elements of a list; an origin is a place or has the origins of its parts.
local function parts(size, ...)
  local found = {}
  for i = 1, size do found[i] = (select(i, ...)) end
  return {parts = found}
end

-- Appends an element and its origin.
local function append_from(found, value, origins, origin)
  append(found, value)
  origins[#found] = origin
end

local function is_place(origin)
  return origin ~= nil and origin.path ~= nil
end

local function is_unchanged(place)
  return place.factor == 1 and place.floor == nil and place.cap == nil and not place.numeral
end

local function is_plain(place)
  return is_place(place) and place.default == nil and is_unchanged(place)
end

local function changed(place, fields)
  local found = merged_fields(place, fields)
  return found
end

-- The origin of the value at some keys of another value.
local function inside(origin, value, ...)
  local first, size = 1, select("#", ...)
  while origin ~= nil and origin.parts and first <= size do
    origin, first = origin.parts[(select(first, ...))], first + 1
  end
  if origin == nil or first > size then return origin end
  if not is_unchanged(origin) then return nil end
  local path, default = joined(origin.path, {}), nil
  for i = first, size do path[#path + 1] = (select(i, ...)) end
  if origin.default ~= nil then default = value end
  return {path = path, factor = 1, default = default}
end

local function step(origin, whole, key, value)
  if type(key) == "string" then return inside(origin, value, key) end
  if type(key) ~= "number" then return nil end
  local index = math.floor(key) + 1
  if key < 0 then
    index = is_list(whole) and #whole + index or 0
  end
  return index >= 1 and inside(origin, value, index) or nil
end

local function entry_origins(origin, whole)
  local found = {}
  for i, key in ipairs(keys_of(whole)) do
    local place = type(key) == "number" and key + 1 or key
    found[i] = {parts = {value = inside(origin, item(whole, key), place)}}
  end
  return {parts = found}
end

-- The origin of `left // right` where the left side is null or false: a written value goes to the left side.
local function default_origin(missing, origin, left, right)
  if not is_place(missing) or not is_plain(missing) or (origin and not is_place(origin)) then return origin end
  if is_place(origin) and origin.default == nil then return origin end
  if right == nil and left ~= nil then return origin end
  return changed(missing, {default = right})
end

-- The value and the origin of `left // right`.
local function either(left, missing, right, origin)
  if left then return left, missing end
  return right, default_origin(missing, origin, left, right)
end

local function only_element(missing, which)
  if #missing ~= 1 then return nil end
  return non_null(missing[1][which])
end

local function times(origin, factor)
  if not is_place(origin) or type(factor) ~= "number" or factor < 0 or factor ~= math.floor(factor) then return nil end
  if factor == 1 then return origin end
  return changed(origin, {
    factor = origin.factor * factor,
    floor = origin.floor and origin.floor * factor,
    cap = origin.cap and origin.cap * factor,
  })
end

-- The origin of a minimum or maximum: the place of the first value that has one, limited by the other values.
local function limited_by(origins, values, is_least)
  local first, limit = nil, nil
  for i = 1, #values do
    local origin = origins and origins.parts and origins.parts[i]
    local value = non_null(values[i])
    if not first and is_place(origin) then
      first = origin
    elseif value ~= nil or is_least then
      if type(value) ~= "number" then return nil end
      if limit == nil then limit = value end
      limit = is_least and math.min(limit, value) or math.max(limit, value)
    end
  end
  if not first or limit == nil then return first end
  if is_least then
    return changed(first, {cap = math.min(limit, first.cap or limit)})
  end
  return changed(first, {
    cap = first.cap and math.max(limit, first.cap),
    floor = math.max(limit, first.floor or limit),
  })
end

local function numeral(origin)
  return is_place(origin) and changed(origin, {numeral = true}) or nil
end

-- The value at a path of keys and indices from 1; nil where the path does not exist.
local function value_at(obj, path, size)
  for i = 1, size or #path do
    if type(obj) ~= "table" or (type(path[i]) == "number") ~= (obj[1] ~= nil) then return nil end
    obj = obj[path[i]]
  end
  return obj
end

-- Writes a value at a path; creates missing objects on the way.
local function write_at(obj, path, value)
  for i = 1, #path - 1 do
    if obj[path[i]] == nil and type(path[i]) == "string" then obj[path[i]] = {} end
    obj = obj[path[i]]
    local is_there = type(obj) == "table" and (type(path[i + 1]) == "number") == (obj[1] ~= nil)
    if not is_there then error("cannot write the field " .. tostring(path[#path]), 0) end
  end
  obj[path[#path]] = value
end
