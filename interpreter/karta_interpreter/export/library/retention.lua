-- The results of a function that reads the member's object; nothing where it fails, so that an update can repair that.
local function unless_broken(read, ...)
  local is_right, first, second = pcall(read, ...)
  if is_right then return first, second end
end

-- What a function reads of the template; nothing where that fails over what was kept of the member.
local function read_template(pairing, read, ...)
  local is_right, first, second = pcall(read, pairing.desired, ...)
  if is_right then return first, second end
  read(pairing.original, ...)
end

local function starts_of(path, size)
  local found = {}
  for i = 1, size do found[i] = path[i] end
  return found
end

-- The list elements that are instances: path of the list, instance id and index.
local function named_elements(finder, obj)
  local found = {}
  local ids, origins = finder.ids(obj)
  local _, pods = nil, {parts = {}}
  for i = 1, #ids do
    if finder.pods and not is_place(origins.parts[i]) then
      _, pods = finder.pods(obj)
      break
    end
  end
  for i = 1, #ids do
    local place = is_place(origins.parts[i]) and origins.parts[i] or pods.parts[i]
    if is_place(place) and type(ids[i]) == "string" then
      for depth = #place.path, 1, -1 do
        if type(place.path[depth]) == "number" then
          found[#found + 1] = {list = path_key(starts_of(place.path, depth - 1)), id = ids[i], index = place.path[depth]}
          break
        end
      end
    end
  end
  return found
end

-- The instance ids of the member's list elements, and the indices of the template's elements by list and id.
local function matched_instances(finders, desired, observed)
  local ours, taken, ids = {}, {}, {}
  for number = #finders, 1, -1 do
    local finder = finders[number]
    for _, element in ipairs(named_elements(finder, desired)) do
      ours[element.list .. "\1" .. number .. "\1" .. element.id] = element.index
      taken[element.list .. "\1" .. element.index] = true
    end
    for _, element in ipairs(unless_broken(named_elements, finder, observed) or {}) do
      local key = element.list .. "\1" .. element.index
      ids[key] = ids[key] or {}
      ids[key][#ids[key] + 1] = number .. "\1" .. element.id
    end
  end
  return {ours = ours, taken = taken, ids = ids}
end

-- The template, the member's object, and the matched elements of their lists.
local function pairing_of(finders, desired, observed)
  local is_right, instances = true, {ours = {}, taken = {}, ids = {}}
  if with.instances then is_right, instances = pcall(matched_instances, finders, desired, observed) end
  local original = copy(desired)
  return {desired = desired, observed = observed, original = original, is_right = is_right, instances = instances}
end

-- The results of an expression for the template, with the member's status in the place of the template's.
local function template_results(pairing, find)
  local desired = pairing.desired
  local before = desired.status
  desired.status = pairing.observed.status
  local is_right, values, origins = pcall(find, desired)
  desired.status = before
  if is_right then return values, origins end
  find(pairing.original)
  return {}, {parts = {}}
end

local function plain_paths(origins, size, is_strict)
  local found = {}
  for i = 1, size do
    if is_plain(origins.parts[i]) then
      found[i] = origins.parts[i].path
    elseif is_strict then
      error("an expression changes the value that it reads", 0)
    end
  end
  return found
end

-- The template's index for an element of the member's list; nil without a counterpart.
local function index_of(pairing, path, depth, place)
  if not pairing.is_right then error(pairing.instances, 0) end
  local instances, list = pairing.instances, path_key(place) .. "\1"
  local ids = instances.ids[path_key(starts_of(path, depth - 1)) .. "\1" .. path[depth]]
  for _, id in ipairs(ids or {}) do
    local found = instances.ours[list .. id]
    if found then return found end
  end
  if ids or instances.taken[list .. path[depth]] then return nil end
  local name = peek(value_at(pairing.observed, path, depth), "name")
  if type(name) ~= "string" or name == "" then return path[depth] end
  local found = nil
  local elements_of_list = value_at(pairing.desired, place)
  for i, element in ipairs(is_list(elements_of_list) and elements_of_list or {}) do
    if peek(element, "name") == name then found = i end
  end
  if found then return found end
  local other = peek(is_list(elements_of_list) and elements_of_list[path[depth]] or nil, "name")
  if other and other ~= "" then return nil end
  return path[depth]
end

-- The template's path for a path of the member; nil without a counterpart.
local function moved_path(pairing, path)
  local place = {}
  for depth, key in ipairs(path) do
    if type(key) == "number" then key = index_of(pairing, path, depth, place) end
    if key == nil then return nil end
    place[#place + 1] = key
    if type(key) == "number" and value_at(pairing.desired, place) == nil then return nil end
  end
  return place
end

-- The fields of an expression that both objects have: the template's paths and the member's values.
local function shared_places(pairing, find, absent, drops, is_strict)
  local values, origins = unless_broken(find, pairing.observed)
  local has_value = values and (absent ~= nil or drops)
  for i = 1, values and #values or 0 do has_value = has_value or values[i] ~= null end
  if not has_value then return {} end
  local paths = unless_broken(plain_paths, origins, #values, is_strict)
  if not paths then return {} end
  local ours, found = {}, {}
  local template_values, template_origins = template_results(pairing, find)
  for _, path in pairs(plain_paths(template_origins, #template_values, is_strict)) do ours[path_key(path)] = true end
  for i = 1, #values do
    local path, value = paths[i], non_null(values[i])
    local kept = value
    if value == nil then kept = absent end
    local place = path and (kept ~= nil or drops) and moved_path(pairing, path)
    if place and ours[path_key(place)] and (value ~= nil or value_at(pairing.desired, place) ~= nil) then
      found[#found + 1] = {path = place, value = copy(kept)}
    end
  end
  return found
end

-- The values at some paths; nothing where the condition on the object does not hold.
local function values_where(obj, paths, holds)
  if with.conditions and holds and not holds(obj) then return nil end
  local found = {}
  for i, path in ipairs(paths) do found[i] = get(obj, unpack(path)) end
  return found
end

-- The fields at some paths that the member has, with its values; `absent` in the place of a missing value.
local function shared_paths(pairing, paths, absent, drops, holds)
  local found, values = {}, unless_broken(values_where, pairing.observed, paths, holds)
  if not values or absent == nil and not drops and next(values) == nil then return found end
  local ours = read_template(pairing, values_where, paths, holds)
  for i, path in ipairs(ours and paths or {}) do
    local kept = values[i]
    if kept == nil then kept = absent end
    if (kept ~= nil or drops) and (values[i] ~= nil or ours[i] ~= nil) then
      found[#found + 1] = {path = path, value = copy(kept)}
    end
  end
  return found
end

-- Whether the fields of a manager have a field, or something around it that may be owned as a whole.
local function may_own(fields, path)
  for _, key in ipairs(path) do
    fields = peek(fields, "f:" .. key)
    if fields == nil or is_empty(fields) then break end
  end
  return fields ~= nil
end

-- Whether Karmada alone owns a field: the managers of the annotations that it gives each object.
local function is_only_karmadas(obj, path)
  local entries = peek(obj, "metadata", "managedFields")
  if not is_list(entries) or #entries > 64 then return false end
  local keys, ours, is_owned = {"fieldsV1"}, {}, false
  for _, key in ipairs(path) do keys[#keys + 1] = "f:" .. key end
  for _, entry in ipairs(entries) do
    local noted = peek(entry, "fieldsV1", "f:metadata", "f:annotations")
    if peek(noted, "f:work.karmada.io/name") or peek(noted, "f:resourcetemplate.karmada.io/generation") then
      ours[peek(entry, "manager") or ""] = true
    end
  end
  for _, entry in ipairs(entries) do
    if may_own(peek(entry, "fieldsV1"), path) and not ours[peek(entry, "manager") or ""] then return false end
    is_owned = is_owned or peek(entry, unpack(keys)) ~= nil
  end
  return is_owned
end

-- Keeps a suspend switch of the member that the template leaves unset, unless Karmada alone has written it. What
-- resumes anyway is kept.
local function keep_switch(pairing, shared, resumed)
  if value_at(pairing.desired, shared.path) ~= nil then return end
  if not equal(shared.value, resumed) and is_only_karmadas(pairing.observed, shared.path) then return end
  write_at(pairing.desired, shared.path, shared.value)
end

-- Keeps the member's suspend switches at paths.
local function keep_switches_at(pairing, paths, resumed)
  for _, shared in ipairs(shared_paths(pairing, paths)) do keep_switch(pairing, shared, resumed) end
end

-- Keeps the member's suspend switches at places.
local function keep_switches(pairing, find, resumed)
  local is_unset = false
  local values = template_results(pairing, find)
  for i = 1, #values do is_unset = is_unset or values[i] == null end
  for _, shared in ipairs(is_unset and shared_places(pairing, find, nil, false, true) or {}) do
    keep_switch(pairing, shared, resumed)
  end
end

local function counterpart(place, source)
  if #place == #source and place[#place] == source[#source] then return place end
  local found = {}
  for depth, key in ipairs(source) do
    local own = place[depth]
    found[depth] = type(key) == "number" and type(own) == "number" and own or key
  end
  return found
end

local function is_counted(pod_sets, obj, key)
  local scales = with.lone and pod_sets(obj) or scales_of(pod_sets, obj)
  for _, scale in ipairs(scales) do
    if scale.place and path_key(scale.place.path) == key then return true end
  end
  return false
end

-- Keeps the member's count where the template has the label for it, or where the template leaves it unset.
local function keep_count(pod_sets, pairing, place, source, retains, is_count)
  if not place or not source or place.path[1] == "status" then return end
  local target = counterpart(place.path, source.path)
  local is_same = path_key(target) == path_key(place.path)
  local before = value_at(pairing.desired, target)
  local is_unset = is_count and value_at(pairing.desired, place.path) == nil and before == nil
    and value_at(pairing.desired, target, #target - 1) ~= nil
  local value = value_at(pairing.observed, source.path)
  if not (retains and is_same or is_unset) or value == nil then return end
  local is_written = pcall(write_at, pairing.desired, target, copy(value))
  if is_written and not is_same and not unless_broken(is_counted, pod_sets, pairing.desired, path_key(target)) then
    write_at(pairing.desired, target, before)
  end
end

-- Whether the pods of a component have a count that the object leaves unset; `places_of` has the functions that give the
-- places of each component's count.
local function leaves_lone_count_unset(places_of, pod_sets, obj)
  for name, finders in pairs(places_of) do
    local is_set = true
    for _, find in ipairs(finders) do
      local is_right, _, place = pcall(find, obj)
      if not is_right or is_place(place) and value_at(obj, place.path) == nil then is_set = false end
    end
    if not is_set and pod_sets(obj, name, true) == true then
      for _, find in ipairs(finders) do
        local _, place = find(obj)
        if is_place(place) then
          if value_at(obj, place.path) == nil then return true end
          break
        end
      end
    end
  end
  return false
end

local function retains_replicas(obj)
  return peek(obj, "metadata", "labels", "resourcetemplate.karmada.io/retain-replicas") == "true"
end

-- The counts of a template, none where it leaves none of them to the members.
local function left_scales(desired, pod_sets, places_of)
  local is_left = retains_replicas(desired)
  if not with.lone then is_left = is_left or leaves_count_unset(pod_sets, desired) end
  if with.lone then is_left = is_left or leaves_lone_count_unset(places_of, pod_sets, desired) end
  if not is_left then return {} end
  local scales = with.lone and pod_sets(desired) or scales_of(pod_sets, desired)
  return scales
end

-- The counts of the member by component and instance, of those components that can be read.
local function scales_of_member(pod_sets, observed, places_of)
  local found = {}
  local components = with.lone and places_of or pod_sets
  for name, component in pairs(components) do
    local scales = with.lone and unless_broken(pod_sets, observed, name) or unless_broken(scales_of, {component}, observed)
    for _, scale in ipairs(scales or {}) do found[scale.component.name .. "\0" .. scale.instance] = scale end
  end
  return found
end

-- Keeps the member's counts if the template has Karmada's label, and those that the template leaves unset.
local function keep_counts(pod_sets, pairing, places_of)
  local scales = unless_broken(left_scales, pairing.desired, pod_sets, places_of) or {}
  local theirs = scales[1] and scales_of_member(pod_sets, pairing.observed, places_of)
  local retains = retains_replicas(pairing.desired)
  for _, scale in ipairs(scales) do
    local other = theirs[scale.component.name .. "\0" .. scale.instance] or {}
    keep_count(pod_sets, pairing, scale.replicas_place, other.replicas_place, retains, true)
    if with.bounds and not scale.replicas_place then
      keep_count(pod_sets, pairing, scale.minimum_place, other.minimum_place, retains, true)
      keep_count(pod_sets, pairing, scale.maximum_place, other.maximum_place, retains, false)
    end
  end
end

-- The components of a template that have pods; nothing where it leaves no count to the members.
local function left_pods(desired, paths, pods_of, bounds)
  local is_left = retains_replicas(desired)
  if with.counts then
    for name, path in pairs(paths) do
      local is_unset = value_at(desired, path) == nil
      local is_unsure = is_unset
      if with.bounded_counts then
        for _, bound in ipairs(bounds[name] or {}) do
          is_unsure = is_unsure or value_at(desired, bound) == nil
        end
      end
      if not is_left and is_unsure and pods_of(desired, name, true)[name] then is_left = is_unset end
    end
  end
  return is_left and pods_of(desired)
end

-- Keeps the member's counts if the template has Karmada's label, and those that the template leaves unset; `pods_of`
-- returns the components that have pods.
local function keep_counts_at(paths, pods_of, pairing, bounds)
  local desired, observed = pairing.desired, pairing.observed
  local ours = unless_broken(left_pods, desired, paths, pods_of, bounds) or {}
  if with.counts then
    local retains = retains_replicas(desired)
    for name, path in pairs(paths) do
      local value = value_at(observed, path)
      local is_unset = value_at(desired, path) == nil and value_at(desired, path, #path - 1) ~= nil
      local is_kept = ours[name] and value ~= nil and (retains or is_unset)
      if is_kept and (unless_broken(pods_of, observed, name) or {})[name] then write_at(desired, path, copy(value)) end
    end
  end
end

-- The template's value, with the member's value for each field that the template leaves unset.
local function filled(ours, theirs)
  if is_object(ours) and is_object(theirs) then
    local found = copy(theirs)
    for key, value in pairs(ours) do found[key] = filled(value, theirs[key]) end
    return found
  end
  if ours == nil then return copy(theirs) end
  return ours
end

-- A text that is the same for equal values only.
local function identity_of(value)
  if type(value) ~= "table" or value == null then return type(value) .. ":" .. tostring(value) end
  local found = {}
  for key, part in pairs(value) do found[#found + 1] = type(key) .. ":" .. key .. "=" .. identity_of(part) end
  table.sort(found)
  return "{" .. table.concat(found, "\0") .. "}"
end

-- The elements of some lists, each behind the element of the template with its number.
local function in_order(lists, size)
  local found = {}
  for place = 0, size do
    for _, element in ipairs(lists[place] or {}) do found[#found + 1] = element end
  end
  return found
end

local function add_at(lists, place, element)
  lists[place] = lists[place] or {}
  table.insert(lists[place], element)
end

-- The elements of both lists, matched by key and filled. What only the member has comes behind the element before it.
local function merged_elements(ours, theirs, key, is_kept)
  if not is_list(theirs) or not (ours == nil or is_list(ours)) then return filled(ours, theirs) end
  local waiting, taken, found, place = {}, {}, {}, 0
  ours = ours or {}
  for i, element in ipairs(ours) do
    local name = key(element)
    waiting[name] = waiting[name] or {}
    waiting[name][#waiting[name] + 1] = i
  end
  for _, element in ipairs(theirs) do
    local name = unless_broken(key, element)
    local index = table.remove(name and waiting[name] or {}, 1)
    place = index or place
    if index then taken[index] = true end
    if name and (not is_kept or unless_broken(is_kept, element)) then
      add_at(found, place, filled(index and ours[index], element))
    elseif index then
      add_at(found, place, ours[index])
    end
  end
  for i, element in ipairs(ours) do
    if not taken[i] then add_at(found, i, element) end
  end
  return in_order(found, #ours)
end

-- The elements of both lists; of other values the template's, filled.
local function united(ours, theirs)
  local is_many = is_list(theirs) and next(theirs) and (ours == nil or is_list(ours))
  if not is_many then return filled(ours, theirs) end
  local found, taken, place = copy(ours or {}), {}, 0
  for i = 1, #found do taken[i] = false end
  for _, element in ipairs(theirs) do
    local own
    for i, other in ipairs(found) do
      own = own or not taken[i] and equal(other, element) and i or nil
    end
    place = own or place + 1
    if not own then
      table.insert(found, place, element)
      table.insert(taken, place, true)
    end
    taken[place] = true
  end
  return found
end

local function amount_text(value)
  if type(value) == "number" then return number_text(value) end
  return value
end

local function is_same_amount(a, b)
  local sign, size = string.match(b, "^([+-]?)(.+)")
  local negative = (sign == "-" and "" or "-") .. size
  return kube.resourceAdd(a, negative) == "0"
end

-- The template's value, with the member's notation of equal quantities.
local function respelled(ours, theirs)
  if type(ours) == "table" and type(theirs) == "table" then
    local found = {}
    for key, value in pairs(ours) do found[key] = respelled(value, theirs[key]) end
    return found
  end
  local a, b = amount_text(ours), amount_text(theirs)
  if type(a) == "string" and type(b) == "string" then
    local is_right, is_same = pcall(is_same_amount, a, b)
    if is_right and is_same then return theirs end
  end
  return ours
end

local function remove_at(obj, path)
  local parent, key = value_at(obj, path, #path - 1), path[#path]
  if type(parent) ~= "table" then return end
  if type(key) == "number" then table.remove(parent, key) else parent[key] = nil end
end

-- Keeps the member's values of fields; returns whether the template is changed.
local function keep_place(pairing, find, absent, drops, holds)
  local shared = with.lists and shared_places(pairing, find, absent, drops, true)
    or shared_paths(pairing, find, absent, drops, holds)
  for _, field in ipairs(shared) do
    if with.drops and field.value == nil then
      remove_at(pairing.desired, field.path)
    end
    if with.drops and field.value ~= nil then write_at(pairing.desired, field.path, field.value) end
    if not with.drops then write_at(pairing.desired, field.path, field.value) end
  end
  return #shared > 0
end

-- A path as users write it: `spec.containers[0].image`.
local function path_text(path)
  local found = ""
  for _, key in ipairs(path) do
    if type(key) == "number" then
      found = found .. "[" .. string.format("%d", key - 1) .. "]"
    else
      found = found .. (found == "" and "" or ".") .. key
    end
  end
  return found
end

-- Removes the empty objects along a path that the member does not have.
local function remove_empty(pairing, path, size)
  local empty = value_at(pairing.desired, path, size)
  if size == 0 or type(empty) ~= "table" or next(empty) or value_at(pairing.observed, path, size) ~= nil then return end
  value_at(pairing.desired, path, size - 1)[path[size]] = nil
  remove_empty(pairing, path, size - 1)
end

-- Keeps what no API server changes, or takes the template's values of what one changes; returns whether the template is
-- changed. Of an object that another template made only gaps are filled, and shares are kept. What is fixed is kept if
-- both have it.
local function exchange(pairing, find, applies, word, holds)
  local note = "resourcetemplate.karmada.io/uid"
  local ours, theirs = pairing.asked, pairing.observed
  local is_changeable, is_fixed, is_share = word == "changeable", word == "fixed", word == "share"
  local is_same = is_share
    or peek(ours, "metadata", "annotations", note) == peek(theirs, "metadata", "annotations", note)
  if applies and not unless_broken(applies, {template = ours, member = theirs}) then return false end
  local from = pairing
  if is_changeable then
    from = {desired = pairing.desired, observed = ours, original = pairing.desired, is_right = true}
    from.instances = {ours = {}, taken = {}, ids = {}}
  end
  local read, last = shared_paths, holds
  if with.lists then read, last = shared_places, true end
  local shared = is_changeable and (unless_broken(read, from, find, nil, true, last) or {})
    or read(from, find, nil, not is_fixed, last)
  for _, field in ipairs(shared) do
    local kept, before = field.value, value_at(pairing.desired, field.path)
    if not is_same then kept = filled(before, kept) end
    local both = {template = ours, member = theirs, at = path_text(field.path)}
    both.name = peek(value_at(pairing.desired, field.path, #field.path - 1), "name")
    local is_kept = not applies or unless_broken(applies, both)
    if is_fixed and (before == nil or not is_same) then is_kept = false end
    if is_kept and kept == nil then
      remove_at(pairing.desired, field.path)
      if is_share then remove_empty(pairing, field.path, #field.path - 1) end
    end
    if is_kept and kept ~= nil then write_at(pairing.desired, field.path, kept) end
  end
  return #shared > 0
end

-- The texts of a list in one, "" for any other value.
local function joined_at(obj, path)
  local listed = value_at(obj, path)
  if type(listed) ~= "table" then return "" end
  for _, element in pairs(listed) do
    if type(element) ~= "string" then return "" end
  end
  return table.concat(listed, ",")
end

-- Sends the template's list with a note of it, or keeps the member's list if the note is there; returns whether the
-- template is changed.
local function send_once(pairing, path, note)
  local desired, observed = pairing.desired, pairing.observed
  local wanted, left = joined_at(desired, path), joined_at(observed, path)
  local noted = peek(observed, "metadata", "annotations", note) or ""
  if wanted == left then return false end
  if wanted == noted then
    if left ~= "" then write_at(desired, path, copy(value_at(observed, path))) else remove_at(desired, path) end
  elseif wanted ~= "" then
    write_at(desired, {"metadata", "annotations", note}, wanted)
  else
    remove_at(desired, {"metadata", "annotations", note})
    if peek(desired, "metadata", "annotations") and next(desired.metadata.annotations) == nil then
      desired.metadata.annotations = nil
    end
  end
  return true
end

-- Completes the template's values of fields from the member's; returns whether the template is changed.
local function adapt_place(pairing, find, adapted, holds)
  local is_changed = false
  local shared = with.lists and shared_places(pairing, find, nil, false, true)
    or shared_paths(pairing, find, nil, false, holds)
  for _, field in ipairs(shared) do
    local ours = value_at(pairing.desired, field.path)
    local kept = adapted(ours, field.value, value_at(pairing.desired, field.path, #field.path - 1))
    if kept ~= nil and not equal(kept, ours) then
      write_at(pairing.desired, field.path, kept)
      is_changed = true
    end
  end
  return is_changed
end

-- Keeps the member's counts if the template has Karmada's label, and those that the template leaves unset; returns
-- whether the template is changed.
local function keep_replicas(pairing, find, holds)
  if retains_replicas(pairing.desired) then return keep_place(pairing, find, nil, nil, holds) end
  return adapt_place(pairing, find, filled, holds)
end

local function is_switched_off(obj, actions)
  for _, action in ipairs(actions) do
    local values = unless_broken(action.find, obj)
    if not values then return false end
    for _, value in ipairs(values) do
      if not equal(non_null(value), action.value) then return false end
    end
  end
  return true
end

-- Keeps the fields that a queue adds to the pods of an admitted workload.
local function keep_added_fields(pairing, find, missing, holds)
  local shared = with.lists and shared_places(pairing, find, nil, false, false)
    or shared_paths(pairing, find, nil, false, holds)
  for _, field in ipairs(shared) do
    if is_object(value_at(pairing.desired, field.path, #field.path - missing)) then
      write_at(pairing.desired, field.path, united(value_at(pairing.desired, field.path), field.value))
    end
  end
end
