-- The number of days from the year 0 to a date; month 13 is January of the next year.
local function days_until(year, month, day)
  if month < 3 then year, month = year - 1, month + 12 end
  local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return year * 365 + leap_days + math.floor((month * 153 + 3) / 5) + day
end

-- The seconds of an RFC 3339 time down to nanoseconds; nil for any other value. Digits are compared as text.
local function seconds_of(value)
  if type(value) ~= "string" or #value < 20 or #value > 35 then return nil end
  local year, month, day, hour, minute, second, zone =
    string.match(value, "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):([0-5]%d):([0-5]%d%.?%d*)(.*)$")
  if zone == "Z" or zone == "" then zone = "+00:00" end
  local sign, hours, minutes = string.match(zone or "", "^([+-])(%d%d):?([0-5]%d)$")
  if not sign or hours > "23" or year < "0001" or month < "01" or month > "12" or day < "01" or hour > "23" then
    return nil
  end
  local days, offset = days_until(year, month + 0, day), (hours * 60 + minutes) * 60
  if days >= days_until(year, month + 1, 1) then return nil end
  return ((days * 24 + hour) * 60 + minute) * 60 + string.sub(second, 1, 9) - (sign == "-" and -offset or offset)
end

-- The earliest or the latest of some times, as it is written; an empty text is none.
local function extreme_time(values, is_earliest)
  local found, known = nil, nil
  for _, value in ipairs(values) do
    local seconds = seconds_of(value)
    if seconds then
      if is_earliest then seconds = -seconds end
      if not known or seconds > known then found, known = value, seconds end
    end
    if with.time_rules and not seconds and value ~= "" then
      error("a value is not a time such as 2026-01-31T12:00:00Z", 0)
    end
  end
  return found
end

-- Whether a time with this name is the end of a workload.
local function is_end(name)
  name = string.lower(name)
  return string.find(name, "^complet") or string.find(name, "^finish") or string.find(name, "^end")
    or string.find(name, "^terminat")
end

-- Whether a field with this name is a generation, which every cluster counts for itself.
local function is_generation(name)
  return string.find(name, "[gG]eneration$")
end

-- Removes the field at a path; `[]` is each element of a list.
local function without_path(value, path, first)
  local key = path[first]
  if key == nil or type(value) ~= "table" then return end
  if key == "[]" then
    for _, element in ipairs(value) do without_path(element, path, first + 1) end
  elseif path[first + 1] == nil then
    value[key] = nil
  else
    without_path(value[key], path, first + 1)
  end
end

-- Removes the generations that a member has observed below a value, as in conditions: it counts for itself.
local function remove_generations(value)
  for _, part in pairs(value) do
    if type(part) == "table" then
      part.observedGeneration = nil
      remove_generations(part)
    end
  end
end

-- The generation that a status is of, which some controllers write as a text of digits.
local function observed_generation(status)
  local observed = status.observedGeneration
  local is_text = type(observed) == "string" and #observed <= 19 and string.find(observed, "^%d+$")
  return integer(is_text and tonumber(observed, 10) or observed)
end

-- Whether a status is none: empty, or that of an object of which no generation has been observed.
local function is_silent(status)
  for field in pairs(status) do
    if field ~= "observedGeneration" and field ~= "generation" and field ~= "resourceTemplateGeneration" then
      return false
    end
  end
  return (observed_generation(status) or 0) < 1
end

-- The first of the worst parts: the one with the least `order`, or severity.
local function worst_of(parts)
  local worst, least = nil, nil
  for _, part in ipairs(parts) do
    local order = part.order or part.report.severity
    if not worst or order < least then worst, least = part, order end
  end
  return worst
end

-- What is done by a status of the template, for each entry of completions.
local function numbers_done(kind, template)
  local found = {}
  for place, completion in ipairs(kind.completions) do found[place] = integer((completion.done(template))) end
  return found
end

-- Whether the members have counts of their own.
local function leaves_counts(template)
  return peek(template, "metadata", "labels", "resourcetemplate.karmada.io/retain-replicas") == "true"
end

-- Whether all clusters together have done less than the template wants. The template's status counts too: a cluster that
-- has left has done its part. If a cluster lacks a number, nothing is known.
local function is_short(kind, template, parts)
  local is_read, before = pcall(numbers_done, kind, template)
  for place, completion in ipairs(kind.completions) do
    local wanted, sum, is_known = integer((completion.of(template))), 0, is_read
    for _, part in ipairs(parts) do
      local number = part.report.numbers and part.report.numbers[place]
      is_known = is_known and number ~= nil
      sum = sum + (number or 0)
    end
    if is_known and wanted and math.max(sum, before[place] or 0) < wanted then return true end
  end
  return false
end

-- What the release of a member has for fields that only later ones write, and that its status lacks.
local function older_values(kind, obj, status)
  local older = {}
  for field, value_of in pairs(kind.later) do
    if status[field] == nil then older[field] = non_null((value_of(obj))) end
  end
  return older
end

-- Completes fields that only later releases write. If one member has nothing for a field, none keeps it.
local function complete_later(kind, parts)
  for field in pairs(kind.later) do
    local is_written, is_unknown = false, false
    for _, part in ipairs(parts) do
      local is_lacking = part.value[field] == nil
      is_written = is_written or not is_lacking
      is_unknown = is_unknown or is_lacking and next(part.value) ~= nil and part.report.older[field] == nil
    end
    for _, part in ipairs(parts) do
      if is_written and is_unknown then
        part.value[field] = nil
      elseif is_written and part.value[field] == nil and next(part.value) ~= nil then
        part.value[field] = part.report.older[field]
      end
    end
  end
end

-- The report and the status of each cluster, in the order of the clusters' names. A cluster without a status is left out,
-- unless all others have completed: then it keeps the workload from being complete, and is the worst. So does what no
-- cluster has done.
local function reports_of(kind, template, items)
  local all, reporting, are_complete = {}, {}, true
  local metadata, before = template.metadata, template.status
  local generation = metadata.generation
  for _, reported in ipairs(items) do
    local status, cluster = reported.status, reported.clusterName or ""
    local statuses, severity, place, numbers, older = {}, "", #all + 1, nil, {}
    local is_compared = items[2] ~= nil
    if with.completions then is_compared = true end
    if status == nil then status = {} end
    if not is_object(status) or is_silent(status) then status = {} end
    if next(status) ~= nil then
      -- The definition's statuses of the member: the template with the member's status and generation. A single report is
      -- compared with no other.
      template.status, metadata.generation = status, status.generation
      status.generation, status.resourceTemplateGeneration = nil, nil
      if is_compared then
        local is_read, result = pcall(kind.statuses_of, template)
        -- A report that cannot be read is none, unless it is compared with no other.
        if is_read then statuses = result elseif items[2] then status = {} end
        if with.later and is_read then
          is_read, older = pcall(older_values, kind, template, status)
          if not is_read then status, statuses, older = {}, {}, {} end
        end
      end
      if with.completions then
        local is_read, result = pcall(numbers_done, kind, template)
        numbers = is_read and result or nil
      end
      if with.removed then
        for field in pairs(kind.removed) do status[field] = nil end
      end
      if with.removed_paths then
        for _, path in ipairs(kind.removed_paths) do without_path(status, path, 1) end
      end
      remove_generations(status)
      for rank, name in ipairs(kind.worst_first) do
        if statuses[name] then severity = severity .. rank end
      end
      if severity == "" then severity = kind.undefined end
    end
    while place > 1 and cluster < all[place - 1].report.cluster do place = place - 1 end
    local report = {cluster = cluster, status = status, statuses = statuses, severity = severity}
    report.numbers, report.older = numbers, older
    table.insert(all, place, {report = report, value = status})
  end
  template.status, metadata.generation = before, generation
  for _, part in ipairs(all) do
    if next(part.value) ~= nil then
      reporting[#reporting + 1] = part
      if with.completes then are_complete = are_complete and part.report.statuses.Completed end
    end
  end
  if with.completions and reporting[1] and are_complete and #all == #reporting then
    if not leaves_counts(template) and is_short(kind, template, all) then
      local is_matched, statuses = pcall(kind.statuses_of, template)
      if not (is_matched and statuses.Completed) then
        table.insert(all, 1, {report = {cluster = "", status = {}, statuses = {}, severity = ""}, value = {}})
      end
    end
  end
  if with.completes and reporting[1] and are_complete then return all end
  return reporting
end

-- The sum of numbers; the largest int32 means "unlimited" and remains.
local function sum_of(values)
  local sum = 0
  for _, value in ipairs(values) do
    if value == 2147483647 then return value end
    sum = sum + value
  end
  if math.abs(sum) >= 2 ^ 53 then error("the sum is too large for a number", 0) end
  return sum
end

local function are_all(values, kind)
  for _, value in ipairs(values) do
    if type(value) ~= kind then return false end
  end
  return true
end

local duration_units = {ns = 1e-9, us = 1e-6, ms = 1e-3, s = 1, m = 60, h = 3600}

-- The seconds of a duration of Go such as 1h2m0.5s; nil for anything else.
local function duration_of(value)
  local seconds, place = 0, string.sub(value, 1, 1) == "-" and 2 or 1
  local sign = place == 2 and -1 or 1
  if string.sub(value, -1) ~= "s" or place > #value then return nil end
  while place <= #value do
    local from, to, amount, unit = string.find(value, "^(%d+%.?%d*)([a-z]+)", place)
    if not from or not duration_units[unit] then return nil end
    seconds, place = seconds + tonumber(amount) * duration_units[unit], to + 1
  end
  return sign * seconds
end

-- A number for comparing numbers, quantities and durations.
local function amount_of(value)
  if type(value) == "number" then return value end
  if type(value) ~= "string" then error("a value is neither a number nor a quantity", 0) end
  local seconds = duration_of(value)
  if seconds then return seconds end
  if string.sub(value, 1, 1) == "-" then return -kube.getResourceQuantity(string.sub(value, 2)) end
  return kube.getResourceQuantity(value)
end

local function of_type(value, kind)
  local is_right = kind == "list" and is_list(value) or kind == "object" and is_object(value) or type(value) == kind
  if not is_right then error("a value must be a " .. kind, 0) end
  return value
end

-- The sum of numbers or of quantities.
local function added(values)
  local amounts = {}
  for _, value in ipairs(values) do
    if value ~= "" then amounts[#amounts + 1] = value end
  end
  if amounts[1] == nil then return nil end
  if are_all(amounts, "number") then return sum_of(amounts) end
  for i, value in ipairs(amounts) do
    if type(value) == "number" then amounts[i] = number_text(value) end
  end
  return kube.resourceAdd(unpack(amounts))
end

-- The value with the largest amount, with `sign` -1 the smallest.
local function extreme_amount(values, sign)
  local found, most = nil, nil
  for _, value in ipairs(values) do
    if value ~= "" then
      local amount = amount_of(value) * sign
      if not most or amount > most then found, most = value, amount end
    end
  end
  return found
end

local function largest(values)
  return extreme_amount(values, 1)
end

-- A controller leaves out a counter of 0, which is the least.
local function smallest(values, _, parts)
  for _, part in ipairs(parts) do
    if part.is_left_out then return nil end
  end
  return extreme_amount(values, -1)
end

local function holds_any(values)
  local found = false
  for _, value in ipairs(values) do
    if of_type(value, "boolean") then found = true end
  end
  return found
end

local function holds_all(values)
  local found = true
  for _, value in ipairs(values) do
    if not of_type(value, "boolean") then found = false end
  end
  return found
end

local function first_value(values)
  for _, value in ipairs(values) do
    if value ~= "" then return value end
  end
  return values[1]
end

local function worst_value(_, parts)
  local given = {}
  for _, part in ipairs(parts) do
    if part.value ~= "" then given[#given + 1] = part end
  end
  return worst_of(given[1] and given or parts).value
end

-- The fields of all objects, as the worst cluster has them that has them.
local function union_of(_, parts)
  local found, order = {}, {}
  for _, part in ipairs(parts) do
    for key, value in pairs(of_type(part.value, "object")) do
      local severity = part.report.severity
      if not order[key] or severity < order[key] then found[key], order[key] = value, severity end
    end
  end
  return found
end

local function all_elements(values)
  local found = {}
  for _, value in ipairs(values) do found = joined(found, of_type(value, "list")) end
  return found
end

local function latest(values)
  return extreme_time(values, false)
end

local function earliest(values)
  return extreme_time(values, true)
end

-- A message that fits into a condition: at most 32768 bytes, without a part of a character at its end.
local function fitting_message(message)
  local last = 32768
  -- Bytes that go on with a character: the cut is before its first one.
  while last > 0 and string.find(message, "^[\128-\191]", last + 1) do last = last - 1 end
  return string.sub(message, 1, last)
end

-- The merged condition of one type; nil where it is left out. The value of a part is empty where its cluster has none.
local function merged_condition(kind, name, parts)
  local status, statuses, first, are_equal, failure = nil, {}, parts[1].value.status, true, nil
  local failing, transitional, any_fails = with.meanings and {}, nil, false
  for _, part in ipairs(parts) do
    local own, matched = part.value.status, part.report.statuses
    local meaning = with.meanings and (name .. "=" .. (own or ""))
    local fails = with.meanings and (matched.Failed or matched.Degraded)
    if with.failing and fails and kind.failing[meaning] then failing[#failing + 1] = part end
    if with.transitional and kind.transitional[meaning] and not (transitional and transitional <= own) then
      transitional = own
    end
    if with.runs then any_fails = any_fails or fails end
    statuses[own or ""] = true
    are_equal = are_equal and own == first
  end
  if with.failing and failing[1] then status = worst_of(failing).value.status end
  if with.anywhere and kind.anywhere[name] and statuses.True then status = status or "True" end
  if with.transitional then status = status or transitional end
  if with.runs and kind.runs[name] and statuses.True and not any_fails then status = status or "True" end
  for _, word in ipairs({"fail", "error", "degraded", "stalled", "timeout", "exceeded"}) do
    if statuses.True and string.find(string.lower(name), word, 1, true) then failure = "True" end
  end
  if with.mapped and kind.mapped[name] then failure = nil end
  if not status and are_equal then status = first end
  status = status or failure
  if not status and statuses.False then status = "False" end
  if not status and statuses.Unknown then status = "Unknown" end
  if not status then return nil end
  -- The worst condition with this status, with the messages of all clusters and the latest times.
  local alike, messages, times = {}, {}, {}
  for _, part in ipairs(parts) do
    local condition = part.value
    local message = condition.message
    if condition.status == status then
      alike[#alike + 1] = part
      messages[#alike] = part.report.cluster .. (type(message) == "string" and message ~= "" and ": " .. message or "")
      for key, value in pairs(condition) do
        if seconds_of(value) then times[key] = extreme_time({times[key] or value, value}, false) end
      end
    end
  end
  local merged = worst_of(alike).value
  merged.message = fitting_message(table.concat(messages, "; "))
  for key, value in pairs(times) do merged[key] = value end
  return merged
end

local function is_condition(value)
  return type(value) == "table" and type(value.type) == "string" and type(value.status) == "string"
end

-- An element that is no condition, if all clusters with conditions have it.
local function in_all(parts, elements)
  local found = nil
  for i, part in ipairs(parts) do
    if next(part.value or {}) ~= nil then
      if elements[i] == nil then return nil end
      found = found or elements[i]
    end
  end
  return found
end

-- Whether a cluster without any condition does not contradict a type: its status means the same. One without a known
-- status contradicts all.
local function agrees(kind, name, matched)
  local means, is_known = kind.means[name], false
  for status, holds in pairs(matched) do
    is_known = is_known or holds
    if holds and means and means[status] then return true end
    local is_calm = status == "Running" or status == "Completed" or status == "Suspended"
    if holds and not means and not is_calm then return false end
  end
  if with.completes then is_known = false end
  return is_known and not means
end

-- The merged conditions, one of each type; the last one counts if a type occurs twice in a cluster. Operators of older
-- releases may write none.
local function merged_conditions(kind, parts)
  local names, conditions, merged = {}, {}, {}
  for i, part in ipairs(parts) do
    for _, condition in ipairs(part.value or {}) do
      local name = is_condition(condition) and condition.type or "\0" .. identity_of(condition)
      if not conditions[name] then
        conditions[name] = {}
        names[#names + 1] = name
      end
      conditions[name][i] = condition
    end
  end
  for _, name in ipairs(names) do
    local own, is_odd = {}, string.sub(name, 1, 1) == "\0"
    if is_odd then merged[#merged + 1] = in_all(parts, conditions[name]) end
    for i, part in ipairs(is_odd and {} or parts) do
      local report, condition = part.report, conditions[name][i] or {}
      local order = report.severity .. "\0" .. (condition.status or "None")
      own[#own + 1] = {report = report, value = condition, order = order, conditions = part.value or {}}
      if with.completing and next(report.status) == nil and not kind.completing[name] then own[#own] = nil end
    end
    if with.ending then
      local unfinished = {}
      for _, part in ipairs(own) do
        if not part.report.statuses.Completed then unfinished[#unfinished + 1] = part end
      end
      if kind.ending[name] and unfinished[1] then own = unfinished end
    end
    for place = #own, 1, -1 do
      local report, is_quiet = own[place].report, next(own[place].conditions) == nil
      if is_quiet and next(report.status) ~= nil and agrees(kind, name, report.statuses) then table.remove(own, place) end
    end
    if own[1] then merged[#merged + 1] = merged_condition(kind, name, own) end
  end
  return merged
end

-- The parts of the worst cluster that goes from one revision to another, and of those with the same revisions; nil
-- without one.
local function between_revisions(parts)
  local same, worst, least = {}, "", nil
  for _, part in ipairs(parts) do
    local current, update = part.value.currentRevision, part.value.updateRevision
    if type(current) == "string" and type(update) == "string" and current ~= update then
      local revisions = current .. "\0" .. update
      local order = part.report.severity .. "\0" .. revisions
      if not least or order < least then worst, least = revisions, order end
      same[revisions] = same[revisions] or {}
      table.insert(same[revisions], part)
    end
  end
  return same[worst]
end

-- The lists with the conditions without a status that hold for the whole, as True ones do, and all that are not mapped.
local function held_parts(kind, parts)
  local all, held, found = {}, {}, {}
  for i, part in ipairs(parts) do
    local conditions = {}
    for _, condition in ipairs(part.value or {}) do
      local name = is_object(condition) and condition.type
      if type(name) == "string" and kind.mapped[name] then
        conditions[#conditions + 1] = {type = name, status = "True"}
      end
    end
    all[i] = {report = part.report, value = conditions}
  end
  for _, condition in ipairs(merged_conditions(kind, all)) do held[condition.type] = true end
  for i, part in ipairs(parts) do
    local left = {}
    for _, condition in ipairs(part.value or {}) do
      local name = is_object(condition) and condition.type
      if not kind.mapped[name] or held[name] then left[#left + 1] = condition end
    end
    found[i] = {report = part.report, value = left}
  end
  return found
end

-- Merges a status field of several clusters; each part has a cluster's report and its value of the field, if any. The
-- name is nil for the status itself.
local function merged_value(kind, path, name, parts)
  local present, values, merged, first = {}, {}, {}, parts[1].value
  local are_equal, are_alike, are_lists, are_objects, are_times = true, true, true, true, true
  for _, part in ipairs(parts) do
    local value = part.value
    are_equal = are_equal and value == first
    if value ~= nil then
      present[#present + 1], values[#values + 1] = part, value
      are_alike = are_alike and type(value) == type(values[1])
      are_lists = are_lists and is_list(value)
      are_objects = are_objects and is_object(value)
      are_times = are_times and seconds_of(value)
    end
  end
  if #values == 0 then return nil end
  if with.rules and kind.rules[path] then return kind.rules[path](values, present, parts) end
  if are_alike and type(values[1]) == "boolean" then return are_equal and first end
  if are_alike and type(values[1]) == "number" and not is_generation(name) then return sum_of(values) end
  if are_lists then
    if with.hold_while_there and path == "status.conditions" then parts = held_parts(kind, parts) end
    if with.hold_while_there then present = parts end
    local elements, are_conditions, has_condition = {}, true, false
    for _, part in ipairs(present) do
      for _, element in ipairs(part.value) do
        elements[#elements + 1] = {report = part.report, value = element}
        local is_one = is_condition(element)
        are_conditions, has_condition = are_conditions and is_one, has_condition or is_one
      end
    end
    if has_condition and (are_conditions or string.find(string.lower(name), "conditions$")) then
      return merged_conditions(kind, parts)
    end
    local keys, same = {}, {}
    for _, part in ipairs(elements) do
      local name_of_part = is_object(part.value) and part.value.name
      part.is_named = type(name_of_part) == "string"
      local key = part.is_named and "=" .. name_of_part or identity_of(part.value)
      if not same[key] then
        same[key] = {}
        keys[#keys + 1] = key
      end
      table.insert(same[key], part)
    end
    for i, key in ipairs(keys) do
      local first_part = same[key][1]
      merged[i] = first_part.is_named and merged_value(kind, path .. "[]", "", same[key]) or first_part.value
    end
    return merged
  end
  if are_objects then
    local keys, is_map, rolling = {}, name ~= nil, between_revisions(present)
    for _, part in ipairs(present) do
      for key, value in pairs(part.value) do
        keys[key] = true
        is_map = is_map and is_object(value)
      end
    end
    for key in pairs(keys) do
      local of_revision = key == "currentRevision" or key == "updateRevision" or key == "currentReplicas"
      local fields = {}
      for _, part in ipairs(of_revision and rolling or parts) do
        local object = part.value or {}
        local value, is_left_out = object[key], object[key] == nil and next(object) ~= nil
        if value ~= nil or not is_map then
          fields[#fields + 1] = {report = part.report, value = value, is_left_out = is_left_out}
        end
      end
      merged[key] = merged_value(kind, path .. "." .. key, key, fields)
    end
    return merged
  end
  if are_times then
    if is_end(name) and #values < #parts then return nil end
    return extreme_time(values, string.find(string.lower(name), "^start"))
  end
  return worst_of(parts).value
end

-- The status of a template without clusters: counters are 0, and fields of a state are removed.
local function emptied(kind, status)
  local left, zero = {}, {boolean = false, number = 0}
  for key, value in pairs(status) do
    left[key] = zero[type(value)]
    if left[key] == 0 and is_generation(key) then left[key] = value end
    if with.state_fields and type(value) == "string" and not kind.state_fields[key] then left[key] = value end
    local is_sum = with.sums and kind.sums[key] and type(left[key]) == "string" and value ~= ""
    if with.sums and is_sum and not seconds_of(value) then left[key] = "0" end
    if with.of_cluster and kind.of_cluster[key] then left[key] = nil end
  end
  return left
end

-- The template's generation if all members have observed it, as text if a member writes it so; the old one if a member is
-- behind or silent; nil if no member writes any.
local function merged_generation(items, current, before)
  local is_text, is_written, is_behind = false, false, false
  if not current or not items[1] then return before end
  for _, reported in ipairs(items) do
    local status = reported.status
    if not is_object(status) or next(status) == nil then return before end
    local observed, own = observed_generation(status), integer(status.generation)
    local of_template = integer(status.resourceTemplateGeneration)
    local is_current = observed and own and of_template and observed >= own and of_template >= current
    if with.later_generation and not observed then is_current = of_template and of_template >= current end
    if with.mapped_generation and observed then is_current = not of_template or of_template >= current end
    is_text = is_text or type(status.observedGeneration) == "string"
    is_written, is_behind = is_written or status.observedGeneration ~= nil, is_behind or not is_current
  end
  if not is_written then return nil end
  if is_behind then return before end
  return is_text and string.format("%d", current) or current
end

-- Whether a counter, a number or a quantity, would fall or go.
local function falls(value, now)
  if type(value) == "number" then return now == nil or type(now) == "number" and now < value end
  if type(value) ~= "string" or now ~= nil and type(now) ~= "string" then return false end
  local is_amount, result = pcall(function()
    local least = amount_of(value)
    return now == nil or now == "" or amount_of(now) < least
  end)
  return is_amount and result
end

-- Keeps counters that would fall, and what no cluster decides, inside of fields.
local function keep_paths(kind, status, known)
  for _, kept in ipairs(kind.kept_paths) do
    local parent = value_at(status, kept.path, #kept.path - 1)
    local value, now = value_at(known, kept.path), value_at(status, kept.path)
    if value ~= nil and (parent == nil or is_object(parent)) and (not kept.is_counter or falls(value, now)) then
      write_at(status, kept.path, value)
    end
  end
end

-- The conditions of a status; none where its `conditions` are not a list.
local function conditions_in(status)
  local conditions, found = is_object(status) and status.conditions, {}
  for _, condition in ipairs(is_list(conditions) and conditions or {}) do
    if is_condition(condition) then found[#found + 1] = condition end
  end
  return found
end

-- The conditions with the status True, by their types.
local function true_conditions(status)
  local found = {}
  for _, condition in ipairs(conditions_in(status)) do
    if condition.status == "True" then found[condition.type] = condition end
  end
  return found
end

local function has_ended(kind, status)
  local holds = true_conditions(status)
  for _, outcome in ipairs(kind.outcomes) do
    if holds[outcome.name] then return true end
  end
  return false
end

local function as_condition(condition, name)
  local found = copy(condition)
  found.type = name
  return found
end

-- The conditions of the outcome: its announcement, and its end once all clusters have ended. An announced outcome
-- precedes a failure, and a failure any other outcome.
local function outcome_of(kind, reported, before, is_over)
  local announced, failed, ended = nil, nil, nil
  for _, outcome in ipairs(kind.outcomes) do
    local name, announcement = outcome.name, outcome.announcement
    if before[announcement] then announced = announced or outcome end
    if outcome.is_failure and (reported[name] or reported[announcement]) then failed = failed or outcome end
    if reported[name] then ended = ended or outcome end
  end
  local outcome = announced or failed or ended
  if not outcome then return {} end
  local own = reported[outcome.name]
  local found = reported[outcome.announcement] or own or before[outcome.announcement]
  local conditions = {as_condition(found, outcome.announcement)}
  if is_over and (own or outcome.is_failure) then conditions[2] = as_condition(own or found, outcome.name) end
  return conditions
end

-- The merged status with the conditions of its outcome, and without an end time before the end.
local function with_outcome(kind, merged, before, is_over)
  local reported, is_of_outcome, conditions = true_conditions(merged), {}, {}
  local outcome, has_come = outcome_of(kind, reported, true_conditions(before), is_over), false
  for _, each_outcome in ipairs(kind.outcomes) do
    is_of_outcome[each_outcome.name], is_of_outcome[each_outcome.announcement] = true, true
    for _, condition in ipairs(outcome) do
      has_come = has_come or (condition.type == each_outcome.name and reported[each_outcome.name] ~= nil)
    end
  end
  local is_changed = outcome[1] ~= nil
  for _, condition in ipairs(conditions_in(merged)) do
    is_changed = true
    if not is_of_outcome[condition.type] then conditions[#conditions + 1] = condition end
  end
  for _, condition in ipairs(outcome) do conditions[#conditions + 1] = condition end
  if is_changed then merged.conditions = conditions end
  for key, value in pairs(has_come and {} or copy(merged)) do
    if is_end(key) and seconds_of(value) then merged[key] = nil end
  end
  return merged
end

-- Whether the template has all the values that suspend it.
local function has_values(template, actions)
  local has_place = false
  for _, action in ipairs(actions) do
    local values, origins = action.find(template)
    for _, path in pairs(plain_paths(origins, #values, true)) do
      has_place = true
      if not equal(value_at(template, path), action.value) then return false end
    end
  end
  return has_place
end

-- Keeps start times, and no end before them: API servers reject a running Job whose start time changes.
local function with_starts(kind, status, known, template)
  local starts = {}
  for key, value in pairs(known) do
    local is_start = string.find(string.lower(key), "^start") and seconds_of(value)
    if is_start and status[key] ~= value then starts[#starts + 1] = key end
  end
  if #starts == 0 or kind.is_suspended(template) then return end
  for key, value in pairs(status) do
    if is_end(key) and seconds_of(value) then
      for _, start in ipairs(starts) do value = extreme_time({value, known[start]}, false) end
      status[key] = value
    end
  end
  for _, start in ipairs(starts) do status[start] = known[start] end
end

-- Leaves out the containers that are back after their end, which API servers refuse. The next time they are new ones.
local function leave_out_returned(status, ended)
  local is_ended = {}
  for _, name in ipairs(ended) do is_ended[name] = true end
  for _, field in ipairs({"containerStatuses", "initContainerStatuses"}) do
    local shown = {}
    for _, container in ipairs(is_list(status[field]) and status[field] or {}) do
      local is_shown = is_object(container)
      if is_shown and is_ended[container.name] then is_shown = value_at(container, {"state", "terminated"}) ~= nil end
      if is_shown then shown[#shown + 1] = container end
    end
    status[field] = shown[1] and shown or nil
  end
end

-- The names of the clusters whose controller has observed no generation yet, nil for none.
local function new_clusters(items)
  local names = {}
  for _, reported in ipairs(items) do
    local status = reported.status
    if is_object(status) and is_silent(status) and observed_generation(status) then
      names[#names + 1] = reported.clusterName or ""
    end
  end
  table.sort(names)
  return names[1] and table.concat(names, ", ")
end

-- Lets nothing be True for the whole that a cluster has yet to begin.
local function wait_for(kind, merged, clusters)
  local conditions = {}
  for place, condition in ipairs(conditions_in(merged)) do
    if condition.status == "True" and kind.waiting[condition.type] then
      condition = copy(condition)
      condition.status, condition.reason = "Unknown", "Progressing"
      condition.message = "not observed yet: " .. clusters
    end
    conditions[place] = condition
  end
  if conditions[1] then merged.conditions = conditions end
end

-- The template with the status of all clusters.
local function aggregated(kind, template, items)
  local before, merged = template.status, nil
  if with.outcomes and has_ended(kind, before) then return template end
  local is_over = with.outcomes and #items > 0
  if with.outcomes then
    for _, reported in ipairs(items) do is_over = is_over and has_ended(kind, reported.status) end
  end
  if not is_object(template.metadata) then template.metadata = {} end
  local old_generation = is_object(before) and before.observedGeneration or nil
  local generation = merged_generation(items, integer(template.metadata.generation), old_generation)
  local clusters = with.waiting and new_clusters(items)
  local reports = reports_of(kind, template, items)
  if reports[2] then
    if with.later then complete_later(kind, reports) end
    merged = merged_value(kind, "status", nil, reports) or {}
  elseif reports[1] then
    merged = reports[1].value
  elseif items[1] or not is_object(before) then
    if not with.waiting then return template end
    if with.waiting then
      if not clusters or not is_object(before) then return template end
      merged = copy(before)
    end
  else
    local statuses = with.ends and kind.statuses_of(template)
    if with.ends and (statuses.Completed or statuses.Failed) then return template end
    merged = emptied(kind, before)
  end
  merged.observedGeneration = nil
  if with.waiting and clusters then wait_for(kind, merged, clusters) end
  if with.outcomes and kind.outcomes then merged = with_outcome(kind, merged, before, is_over) end
  local known = is_object(before) and before or {}
  if with.outcomes and kind.outcomes then with_starts(kind, merged, known, template) end
  if with.ended_containers then leave_out_returned(merged, kind.ended_containers(template)) end
  if with.kept then
    for field in pairs(kind.kept) do if known[field] ~= nil then merged[field] = known[field] end end
  end
  if with.counters then
    for field in pairs(kind.counters) do
      if falls(known[field], merged[field]) then merged[field] = known[field] end
    end
  end
  if with.kept_paths then keep_paths(kind, merged, known) end
  if generation ~= nil then merged.observedGeneration = generation end
  if with.required then
    for _, field in ipairs(kind.required) do
      local owner = value_at(merged, field.path, #field.path - 1)
      if is_object(owner) and owner[field.path[#field.path]] == nil then write_at(merged, field.path, field.value) end
    end
  end
  template.status = merged
  return template
end
