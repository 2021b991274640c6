local days_before = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}

local days_in = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

local function is_leap(year)
  return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
end

-- The seconds of an offset such as Z or +02:00; nil for none.
local function offset_seconds(zone)
  if zone == "Z" or zone == "" then return 0 end
  local sign, hours, minutes = string.match(zone, "^([+-])(%d%d):?(%d%d)$")
  if not sign or tonumber(hours) > 23 or tonumber(minutes) > 59 then return nil end
  return (tonumber(hours) * 60 + tonumber(minutes)) * (sign == "-" and -60 or 60)
end

-- The seconds of an RFC 3339 time; nil for anything else.
local function seconds_of(value)
  if type(value) ~= "string" or #value < 20 then return nil end
  local date, clock, zone = string.match(value, "^(%d%d%d%d%-%d%d%-%d%d)T(%d%d:%d%d:%d%d%.?%d*)(.*)$")
  local offset = date and offset_seconds(zone)
  if not offset then return nil end
  local year, month, day = tonumber(string.sub(date, 1, 4)), tonumber(string.sub(date, 6, 7)), tonumber(string.sub(date, 9))
  local hour, minute = tonumber(string.sub(clock, 1, 2)), tonumber(string.sub(clock, 4, 5))
  local second = tonumber(string.sub(clock, 7, 15))
  if year < 1 or month < 1 or month > 12 or day < 1 or hour > 23 or minute > 59 or second >= 60 then return nil end
  if day > days_in[month] + (month == 2 and is_leap(year) and 1 or 0) then return nil end
  local before = year - 1
  local days = before * 365 + math.floor(before / 4) - math.floor(before / 100) + math.floor(before / 400)
  days = days + days_before[month] + (month > 2 and is_leap(year) and 1 or 0) + day
  return ((days * 24 + hour) * 60 + minute) * 60 + second - offset
end

local function is_time(value)
  return seconds_of(value) ~= nil
end

-- The earliest or the latest of some times, as it was written.
local function extreme_time(values, is_earliest)
  local found, known = nil, nil
  for _, value in ipairs(values) do
    local seconds = seconds_of(value)
    if not seconds then error("a value is not a time such as 2026-01-31T12:00:00Z", 0) end
    if not known or (is_earliest and seconds < known) or (not is_earliest and seconds > known) then
      found, known = value, seconds
    end
  end
  return found
end

local function begins_with_any(name, words)
  for _, word in ipairs(words) do
    if starts_with(string.lower(name), word) then return true end
  end
  return false
end

local function is_start(name)
  return begins_with_any(name, {"start"})
end

local function is_end(name)
  return begins_with_any(name, {"complet", "finish", "end", "terminat"})
end

local ranks = {
  Failed = 0, Degraded = 1, Undefined = 2, Suspending = 3, Suspended = 4, Resuming = 5, Initializing = 6, Running = 7,
  Completed = 8,
}

-- A key that orders clusters, the one that is worst off first.
local function severity_of(statuses)
  local found = {}
  for name in pairs(statuses) do found[#found + 1] = ranks[name] end
  table.sort(found)
  return found
end

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

-- What a cluster reports, as far as it is merged, and what the definition makes of it.
local function report_of(kind, template, reported)
  if reported.status ~= nil and not is_object(reported.status) then
    error("the status of a cluster must be an object", 0)
  end
  local status = copy(reported.status) or {}
  if next(status) == nil then
    return {cluster = reported.clusterName or "", status = {}, statuses = {Undefined = true}, severity = {2}}
  end
  local generation = status.generation
  status.generation, status.resourceTemplateGeneration = nil, nil
  local object = united_fields(template, {status = status})
  object.metadata = united_fields(is_object(template.metadata) and template.metadata or {}, {})
  object.metadata.generation = generation
  local statuses = kind.statuses_of(object)
  for _, path in ipairs(kind.removed) do without_path(status, path, 1) end -- with removed
  return {cluster = reported.clusterName or "", status = status, statuses = statuses, severity = severity_of(statuses)}
end

-- The reports to merge, by the names of the clusters; one without a status only keeps a workload from being complete.
local function reports_of(kind, template, items)
  local all, reporting, are_complete = {}, {}, true
  for i, reported in ipairs(items) do all[i] = report_of(kind, template, reported) end
  local places = {}
  for i, report in ipairs(all) do places[report] = i end
  table.sort(all, function(a, b)
    if a.cluster == b.cluster then return places[a] < places[b] end
    return a.cluster < b.cluster
  end)
  for _, report in ipairs(all) do
    if next(report.status) ~= nil then
      reporting[#reporting + 1] = report
      are_complete = are_complete and report.statuses.Completed
    end
  end
  return #reporting > 0 and are_complete and all or reporting
end

-- The sum of some numbers; the largest int32 means "unlimited" and stays that.
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

-- A number, a quantity or a duration as something to compare.
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
  if not is_right then error("a value is no " .. kind, 0) end
  return value
end

local function without_empty_text(values)
  local found = {}
  for _, value in ipairs(values) do
    if value ~= "" then found[#found + 1] = value end
  end
  return found
end

local function added(values)
  if are_all(values, "number") then return sum_of(values) end
  for i, value in ipairs(values) do
    if type(value) == "number" then values[i] = number_text(value) end
  end
  return kube.resourceAdd(unpack(values))
end

local function largest(values)
  local found = values[1]
  for _, value in ipairs(values) do
    if amount_of(value) > amount_of(found) then found = value end
  end
  return found
end

local function smallest(values)
  local found = values[1]
  for _, value in ipairs(values) do
    if amount_of(value) < amount_of(found) then found = value end
  end
  return found
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
  return values[1]
end

local function union_of(values)
  local found = {}
  for i = #values, 1, -1 do found = united_fields(found, of_type(values[i], "object")) end
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

local function nothing()
  return nil
end

local computing = {sum = true, max = true, min = true, latest = true, earliest = true}

-- Many values become one by the rule of the annotation `aggregate`.
local function reduced(kind, rule, values)
  if rule == "counter" then rule = "sum" end
  if computing[rule] then values = without_empty_text(values) end
  if #values == 0 then return nil end
  return kind.reductions[rule](values)
end

local function sorted_by(values, is_before)
  local found = {}
  for i, value in ipairs(values) do
    local place = i
    while place > 1 and is_before(value, found[place - 1]) do
      found[place] = found[place - 1]
      place = place - 1
    end
    found[place] = value
  end
  return found
end

local function worse(a, b)
  return compare(a.report.severity, b.report.severity) < 0
end

local function are_conditions(values)
  for _, value in ipairs(values) do
    if type(value) ~= "table" or type(value.type) ~= "string" or type(value.status) ~= "string" then return false end
  end
  return #values > 0
end

local function shown(value)
  return type(value) == "string" and value or "None"
end

local function worst_condition(a, b)
  local order = compare(a.report.severity, b.report.severity)
  if order ~= 0 then return order < 0 end
  if shown(a.status) ~= shown(b.status) then return shown(a.status) < shown(b.status) end
  return shown(a.condition.reason) < shown(b.condition.reason)
end

local function fails(one)
  return one.report.statuses.Failed or one.report.statuses.Degraded
end

local function sounds_like_failure(name)
  for _, word in ipairs({"fail", "error", "degraded", "stalled", "timeout", "exceeded"}) do
    if string.find(string.lower(name), word, 1, true) then return true end
  end
  return false
end

-- The status of a merged condition; nil where it is left out.
local function condition_status(kind, name, told)
  local failing, going_on, statuses, are_equal, any_fails = {}, nil, {}, true, false
  for _, one in ipairs(told) do
    local key = name .. "=" .. shown(one.status)
    if one.status then statuses[one.status] = true end
    if fails(one) and kind.failing[key] then failing[#failing + 1] = one end -- with failing
    if one.status and kind.going_on[key] and (not going_on or one.status < going_on) then going_on = one.status end -- with going_on
    are_equal = are_equal and one.status == told[1].status
    any_fails = any_fails or fails(one)
  end
  if #failing > 0 then return sorted_by(failing, worst_condition)[1].status end -- with failing
  if going_on then return going_on end -- with going_on
  local runs = kind.running[name] and string.find(string.lower(name), "running", 1, true) -- with completes
  if runs and statuses.True and not any_fails then return "True" end -- with completes
  if are_equal then return told[1] and told[1].status end
  if not kind.mapped[name] and sounds_like_failure(name) and statuses.True then return "True" end
  return statuses.False and "False" or statuses.Unknown and "Unknown" or nil
end

local function merged_condition(name, status, told)
  local contributing, messages, times_of = {}, {}, {}
  for _, one in ipairs(told) do
    if next(one.condition) ~= nil and one.status == status then contributing[#contributing + 1] = one end
  end
  local found = copy(sorted_by(contributing, worst_condition)[1].condition)
  for i, one in ipairs(contributing) do
    local message = one.condition.message
    messages[i] = one.report.cluster
    if type(message) == "string" and message ~= "" then messages[i] = messages[i] .. ": " .. message end
    for key, value in pairs(one.condition) do
      if is_time(value) then
        times_of[key] = times_of[key] or {}
        table.insert(times_of[key], value)
      end
    end
  end
  found.observedGeneration = nil
  found.type, found.status, found.message = name, status, table.concat(messages, "; ")
  for key, values in pairs(times_of) do found[key] = extreme_time(values, false) end
  return found
end

-- The conditions of all clusters, type by type.
local function merged_conditions(kind, parts_of_list)
  local names, is_known, by_part, merged = {}, {}, {}, {}
  for i, part in ipairs(parts_of_list) do
    by_part[i] = {}
    for _, condition in ipairs(part.value) do
      if next(condition) ~= nil then
        if not is_known[condition.type] then names[#names + 1] = condition.type end
        is_known[condition.type] = true
        by_part[i][condition.type] = condition
      end
    end
  end
  for _, name in ipairs(names) do
    local told, unfinished = {}, {}
    for i, part in ipairs(parts_of_list) do
      local condition = by_part[i][name] or {}
      local one = {report = part.report, condition = condition, status = condition.status}
      if kind.completing[name] or kind.by_expression or next(part.report.status) ~= nil then
        told[#told + 1] = one
        if not part.report.statuses.Completed then unfinished[#unfinished + 1] = one end
      end
    end
    if kind.running[name] and #unfinished > 0 then told = unfinished end -- with running
    local status = condition_status(kind, name, told)
    if status then merged[#merged + 1] = merged_condition(name, status, told) end
  end
  return merged
end

local function merged_text(name, parts_of_field, values)
  local are_times, are_equal = true, true
  for _, value in ipairs(values) do are_times = are_times and is_time(value) end
  if are_times then
    if is_start(name) then return extreme_time(values, true) end
    if is_end(name) and #values < #parts_of_field then return nil end
    return extreme_time(values, false)
  end
  for _, part in ipairs(parts_of_field) do are_equal = are_equal and equal(part.value, values[1]) end
  if are_equal then return values[1] end
  return sorted_by(parts_of_field, worse)[1].value
end

local function unrepeated(parts_of_list)
  local found, is_known = {}, {}
  for _, part in ipairs(parts_of_list) do
    for _, element in ipairs(part.value) do
      local key = identity_of(element)
      if not is_known[key] then found[#found + 1] = element end
      is_known[key] = true
    end
  end
  return found
end

local function is_between_revisions(value)
  local current, update = value.currentRevision, value.updateRevision
  return type(current) == "string" and type(update) == "string" and current ~= update
end

-- The worst cluster that goes from one revision to another, and those that do the same.
local function between_revisions(parts_of_object)
  local rolling, same = {}, {}
  for _, part in ipairs(parts_of_object) do
    if is_between_revisions(part.value) then rolling[#rolling + 1] = part end
  end
  local first = sorted_by(rolling, function(a, b)
    local order = compare(a.report.severity, b.report.severity)
    if order ~= 0 then return order < 0 end
    return compare({a.value.currentRevision, a.value.updateRevision}, {b.value.currentRevision, b.value.updateRevision}) < 0
  end)[1]
  for _, part in ipairs(rolling) do
    if part.value.currentRevision == first.value.currentRevision
      and part.value.updateRevision == first.value.updateRevision then
      same[#same + 1] = part
    end
  end
  return same
end

local of_revisions = {currentRevision = true, updateRevision = true, currentReplicas = true}

local function is_map_of_objects(parts_of_object)
  for _, part in ipairs(parts_of_object) do
    for _, value in pairs(part.value) do
      if not is_object(value) then return false end
    end
  end
  return true
end

-- A status field, an object or the whole status of several clusters, merged by the rules of the kind.
local function merged_value(kind, path, name, parts_of_field)
  local found, values = {}, {}
  for _, part in ipairs(parts_of_field) do
    if part.value ~= nil then
      found[#found + 1] = part
      values[#values + 1] = part.value
    end
  end
  if #values == 0 then return nil end
  if kind.rules[path] then -- with rules
    local rule = kind.rules[path]
    if rule == "worst" or rule == "union" then
      values = {}
      for i, part in ipairs(sorted_by(found, worse)) do values[i] = part.value end
    end
    return reduced(kind, rule, values)
  end
  if are_all(values, "boolean") then
    local holds = #values == #parts_of_field
    for _, value in ipairs(values) do holds = holds and value end
    return holds
  end
  if are_all(values, "number") then return sum_of(values) end
  local are_objects, are_lists = true, true
  for _, value in ipairs(values) do
    are_objects = are_objects and is_object(value)
    are_lists = are_lists and is_list(value)
  end
  if not are_objects and not are_lists then return merged_text(name, parts_of_field, values) end
  local whole = {}
  for i, part in ipairs(parts_of_field) do whole[i] = {report = part.report, value = part.value or {}} end
  if are_lists then
    local all, have_names = {}, true
    for _, part in ipairs(whole) do all = joined(all, part.value) end
    if are_conditions(all) then return merged_conditions(kind, whole) end
    for _, element in ipairs(all) do
      if not is_object(element) or type(element.name) ~= "string" then have_names = false end
    end
    if not have_names then return unrepeated(whole) end
    local names, by_name, merged = {}, {}, {}
    for _, part in ipairs(whole) do
      for _, element in ipairs(part.value) do
        if not by_name[element.name] then
          by_name[element.name] = {}
          names[#names + 1] = element.name
        end
        table.insert(by_name[element.name], {report = part.report, value = element})
      end
    end
    for i, own in ipairs(names) do merged[i] = merged_value(kind, path .. "[]", "", by_name[own]) or {} end
    return merged
  end
  local keys, rolling = {}, between_revisions(whole)
  local is_map, merged = path ~= "status" and is_map_of_objects(whole), {}
  for _, part in ipairs(whole) do
    for key in pairs(part.value) do keys[key] = true end
  end
  keys.observedGeneration = nil
  for _, key in ipairs(sorted_keys(keys)) do
    local fields = {}
    for _, part in ipairs(#rolling > 0 and of_revisions[key] and rolling or whole) do
      if not is_map or part.value[key] ~= nil then
        fields[#fields + 1] = {report = part.report, value = part.value[key]}
      end
    end
    merged[key] = merged_value(kind, path .. "." .. key, key, fields)
  end
  return merged
end

-- What is left of a status when the template is in no cluster.
local function emptied(kind, status)
  local left = {}
  for key, value in pairs(status) do
    local rule = kind.rules["status." .. key] -- with rules
    if type(value) == "boolean" then
      left[key] = false
    elseif type(value) == "number" then
      left[key] = 0
    elseif type(value) == "string" and not kind.told[key] then
      left[key] = value
      if (rule == "sum" or rule == "counter") and value ~= "" and not is_time(value) then left[key] = "0" end -- with rules
    end
    if rule == "first" or rule == "worst" or rule == "union" or rule == "drop" then left[key] = nil end -- with rules
    if kind.is_told_whole and type(value) == "string" then left[key] = nil end -- with is_told_whole
  end
  return left
end

local function has_caught_up(status, template)
  local observed = observed_generation(status)
  if not observed then return false end
  local generation, of_template = status.generation, status.resourceTemplateGeneration
  if not is_integer(generation) or not is_integer(of_template) then return false end
  return observed >= generation and of_template >= template
end

-- The template's generation, when all clusters have caught up with it.
local function agreed_generation(items, template)
  local is_text = false
  if not template or #items == 0 then return nil end
  for _, reported in ipairs(items) do
    if not has_caught_up(reported.status, template) then return nil end
    is_text = is_text or type(reported.status.observedGeneration) == "string"
  end
  return is_text and number_text(template) or template
end

-- Counters do not fall, and what no cluster decides stays.
local function with_known(kind, status, known)
  for _, kept in ipairs(kind.kept) do
    local parent = value_at(status, kept.path, #kept.path - 1)
    local value, now = value_at(known, kept.path), value_at(status, kept.path)
    local falls = type(value) == "number" and (now == nil or (type(now) == "number" and now < value))
    if value ~= nil and (parent == nil or is_object(parent)) and (not kept.is_counter or falls) then
      write_at(status, kept.path, value)
    end
  end
end

local function true_conditions(status)
  local conditions, found = is_object(status) and status.conditions or nil, {}
  if not is_list(conditions) or not are_conditions(conditions) then return found end
  for _, condition in ipairs(conditions) do
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

-- The outcome that a merged status may show: an announcement, and the end when it has come.
local function outcome_of(kind, said, before, is_over)
  local candidates = {}
  for _, outcome in ipairs(kind.outcomes) do
    if before[outcome.announcement] then candidates[#candidates + 1] = outcome end
  end
  for _, outcome in ipairs(kind.outcomes) do
    if outcome.is_failure and (said[outcome.name] or said[outcome.announcement]) then candidates[#candidates + 1] = outcome end
  end
  for _, outcome in ipairs(kind.outcomes) do
    if said[outcome.name] then candidates[#candidates + 1] = outcome end
  end
  local outcome = candidates[1]
  if not outcome then return {} end
  local found = said[outcome.announcement] or said[outcome.name] or before[outcome.announcement]
  local shown_ones = {as_condition(found, outcome.announcement)}
  if is_over and (said[outcome.name] or outcome.is_failure) then
    shown_ones[2] = as_condition(said[outcome.name] or found, outcome.name)
  end
  return shown_ones
end

local function concluded(kind, merged, before, is_over)
  local said, is_of_outcome, others = true_conditions(merged), {}, {}
  local outcome, has_come = outcome_of(kind, said, true_conditions(before), is_over), false
  for _, each_outcome in ipairs(kind.outcomes) do
    is_of_outcome[each_outcome.name], is_of_outcome[each_outcome.announcement] = true, true
    for _, condition in ipairs(outcome) do
      has_come = has_come or (condition.type == each_outcome.name and said[each_outcome.name] ~= nil)
    end
  end
  local conditions = is_list(merged.conditions) and are_conditions(merged.conditions) and merged.conditions or {}
  for _, condition in ipairs(conditions) do
    if not is_of_outcome[condition.type] then others[#others + 1] = condition end
  end
  if #outcome > 0 or #conditions > 0 then merged.conditions = joined(others, outcome) end
  for key, value in pairs(has_come and {} or united_fields(merged, {})) do
    if is_end(key) and is_time(value) then merged[key] = nil end
  end
  return merged
end

local function is_template_suspended(kind, template)
  local has_place = false
  for _, action in ipairs(kind.suspend or {}) do
    local values, origins = action.find(template)
    for i = 1, #values do
      has_place = true
      local path = plain_path(origins.parts[i], true)
      if not equal(value_at(template, path), action.value) then return false end
    end
  end
  return has_place
end

-- API servers refuse a Job whose start moves while it is to run, or that has ended before it.
local function with_starts(kind, status, known, template)
  local moved, ends = {}, {}
  for key, value in pairs(known) do
    if is_start(key) and is_time(value) and status[key] ~= value then moved[key] = value end
  end
  if next(moved) == nil or is_template_suspended(kind, template) then return end
  for key, value in pairs(status) do
    if is_end(key) and is_time(value) then ends[key] = value end
  end
  for key, value in pairs(moved) do status[key] = value end
  for key, value in pairs(ends) do
    for _, start in pairs(moved) do value = extreme_time({value, start}, false) end
    status[key] = value
  end
end

-- The template with the status of all clusters.
local function aggregated(kind, template, items)
  local before, merged, is_over = template.status, nil, #items > 0
  if has_ended(kind, before) then return template end -- with outcomes
  local reports = reports_of(kind, template, items)
  if #items == 0 then
    local statuses = kind.completes and not kind.outcomes and kind.statuses_of(template) or {}
    if before == nil or not is_object(before) or statuses.Completed or statuses.Failed then return template end
    merged = emptied(kind, before)
  elseif #reports == 0 then
    return template
  elseif #reports == 1 then
    merged = reports[1].status
  else
    local whole = {}
    for i, report in ipairs(reports) do whole[i] = {report = report, value = report.status} end
    merged = copy(merged_value(kind, "status", "status", whole) or {})
  end
  for _, reported in ipairs(items) do is_over = is_over and has_ended(kind, reported.status) end -- with outcomes
  if kind.outcomes then merged = concluded(kind, merged, before, is_over) end -- with outcomes
  local known = is_object(before) and before or {}
  merged.observedGeneration = agreed_generation(items, generation_of(template)) or known.observedGeneration
  if kind.outcomes then with_starts(kind, merged, known, template) end -- with outcomes
  with_known(kind, merged, copy(known)) -- with kept
  template.status = copy(merged)
  return template
end
