-- Whether an expression has a first result, whose text is the expected JSON. That of an empty object or list never is.
local function is_text(expected, value, is_there)
  if not is_there then return false end
  if type(value) == "number" then return value == tonumber(expected) end
  local is_container = type(value) == "table" and value ~= null
  if is_container and (next(value) == nil or not string.find(expected, "^[%[{]")) then return false end
  return to_text(value) == expected
end

-- As is_text, for a boolean and for a text that is not JSON.
local function is_answer(expected, value, is_there)
  return is_there and (value == expected or value == tostring(expected))
end

local function text_or_nil(value)
  return type(value) == "string" and value or nil
end

-- The conditions, or a field of each, by type; the last one counts if a type occurs twice.
local function conditions_of(conditions, type_field, field)
  local found = {}
  if conditions == nil then return found end
  if conditions[1] == nil and next(conditions) ~= nil then error("conditions must be a list", 0) end
  for _, condition in ipairs(conditions) do
    local name = get(condition, type_field)
    if type(name) == "string" then found[name] = field and condition[field] or condition end
  end
  return found
end

-- As conditions_of, for several lists.
local function conditions_by_type(lists, type_field, field)
  local found = {}
  for _, conditions in ipairs(limited(lists)) do
    found = merged_fields(found, conditions_of(non_null(conditions), type_field, field))
  end
  return found
end

-- The phase; an empty text without one.
local function phase_of(value)
  if value ~= nil and type(value) ~= "string" then error("the phase must be a string", 0) end
  return value or ""
end

local function first_phase(phases)
  for _, phase in ipairs(limited(phases)) do
    if phase ~= null and type(phase) ~= "string" then error("the phase must be a string", 0) end
  end
  if #phases == 0 then return nil end
  return non_null(phases[1]) or ""
end

local function has_status(condition, field)
  if field == "" then return true end
  local status = condition
  if type(condition) == "table" then status = condition[field] end
  return type(status) == "string" and status ~= ""
end

local function is_defined(statuses)
  for _, holds in pairs(statuses) do
    if holds then return true end
  end
  return false
end

-- A state that no mapping names is an error, which moves nothing.
local function check_words(words, phase, by_type, field)
  local written = {}
  if phase ~= nil and phase ~= "" then
    written = {phase}
  else
    for name, condition in pairs(by_type) do
      if name ~= "" and has_status(condition, field) then written[#written + 1] = name end
    end
  end
  for _, name in ipairs(written) do
    if words[name] then return end
  end
  if #written > 0 then error("the definition does not know the state", 0) end
end

-- Whether a value has a number that is no generation in the parts that are read of it.
local function has_counter(value, parts)
  if type(value) == "number" then return true end
  if type(value) ~= "table" then return false end
  for name, below in pairs(value) do
    local part = parts == true or parts[name] or parts["[]"]
    if part and name ~= "observedGeneration" and name ~= "generation" and has_counter(below, part) then return true end
  end
  return false
end

local function integer(value)
  return type(value) == "number" and value % 1 == 0 and value or nil
end

local function generation_of(obj)
  return integer(peek(obj, "metadata", "generation"))
end

-- Whether a status is of an older generation, which some controllers write as a text of digits. A negative one is the
-- default of an object that no controller has seen. Argo CD opens no string library; between two digits, tonumber rejects
-- signs and spaces.
local function is_stale(obj)
  local status, metadata = obj.status, obj.metadata
  if type(status) ~= "table" or type(metadata) ~= "table" then return false end
  local observed, current = status.observedGeneration, metadata.generation
  local digits = type(observed) == "string" and tonumber("1" .. observed .. "1", 10)
  if digits then observed = digits % 10 == 1 and tonumber(observed) end
  return type(observed) == "number" and type(current) == "number"
    and observed % 1 == 0 and current % 1 == 0 and observed >= 0 and observed < current
end

local function has_any(statuses, names)
  for _, name in ipairs(names) do
    if statuses[name] then return true end
  end
  return false
end

-- The generation of the template, which Karmada writes into an annotation of the member's object.
local function template_generation(obj)
  local text = peek(obj, "metadata", "annotations", "resourcetemplate.karmada.io/generation")
  if type(text) ~= "string" then return nil end
  local number = tonumber(string.match(text, "^[+-]?(%d+)$") or "")
  if not number or number >= 2 ^ 63 then
    error("the annotation resourcetemplate.karmada.io/generation must be a number of 64 bits", 0)
  end
  return string.sub(text, 1, 1) == "-" and -number or number
end

local function status_of(obj)
  local status = obj.status
  if status ~= nil and not is_object(status) then error("status must be an object", 0) end
  return status or {}
end

-- The status with the template's generation, which tells what has reached the member.
local function status_with_template(obj)
  local status = status_of(obj)
  if status.observedGeneration ~= nil then
    status.resourceTemplateGeneration = template_generation(obj) or status.resourceTemplateGeneration
  end
  return status
end

-- The status; with observedGeneration, also the generations that show whether the status is current.
local function reflected_status(obj)
  local status = status_with_template(obj)
  if status.observedGeneration ~= nil then status.generation = generation_of(obj) or status.generation end
  return status
end

-- As reflected_status, where only later releases write observedGeneration: without it, what has reached the member.
local function delivered_status(obj)
  local status = reflected_status(obj)
  if next(status) ~= nil then
    status.resourceTemplateGeneration = template_generation(obj) or status.resourceTemplateGeneration
  end
  return status
end

local function status_without_generation(obj)
  local status = status_of(obj)
  status.observedGeneration = nil
  return status
end
