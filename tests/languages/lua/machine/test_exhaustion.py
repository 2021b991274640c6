"""Scripts at the end of the stack, where any call may fail half way: what they and those after them then find."""

from itertools import product

import pytest

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.runtime import Runtime, ScriptCall
from tests.languages.lua.machine import machine
from tests.support.examples import few

OBJECT: JSON = {
    "kind": "X",
    "list": [{"n": number} for number in range(300)],
    "template": {"spec": {"serviceAccountName": "me", "containers": [{"resources": {"requests": {"cpu": "1"}}}]}},
}

DESCENTS = {
    "pcall": (400, "pcall(down, n - 1)"),
    "xpcall": (400, "xpcall(function() down(n - 1) end, function(e) return e end)"),
    "iterators": (400, "for _ in function() down(n - 1) end do end"),
    "iterators in pcall": (400, "pcall(function() for _ in function() down(n - 1) end do end end)"),
    "modules": (400, "package.preload['m' .. n] = function() down(n - 1) end pcall(require, 'm' .. n)"),
    "recursion": (30_000, "down(n - 1)"),
}

ATTEMPTS = {
    "libraries": "local x = math.pi, table.concat, os.time, string.upper('x'), package.loaded",
    "changed libraries": "math.own = 1 table.own = 1",
    "globals": "own = 1 pairs = pairs",
    "the environment": "_G.own = 1",
    "ordered keys": "local t = {b = 1, a = 2} t.z = n for k in pairs(t) do t[k] = n end t[n .. 'k'] = 1",
    "patterns": "local x = ('a' .. n .. 'b'):match('^(a)([%d]+)(.-)$'), string.format('%s', 'é'), ('é'):upper()",
    "kube": "local x = kube.accuratePodRequirements({spec = {containers = {{name = 'x'}}}})",
    "karta": "local t = {} for i = 1, 300 do t[i] = {i} end karta.same(t)",
    "printing": "print(n, 'é', {})",
    "errors": "error({n})",
}

CHECK = """
  own, math.own, table.own = nil, nil, nil
  local found = {}
  local function note(...)
    for i = 1, select('#', ...) do found[#found + 1] = tostring((select(i, ...))) end
  end
  for _, name in ipairs({'_G', 'string', 'table', 'math', 'os'}) do
    local names = {}
    for name, value in pairs(_G[name]) do names[#names + 1] = name .. ' ' .. type(value) end
    table.sort(names)
    note(table.concat(names, ','))
  end
  note(kube.resourceAdd('1Gi', '1Mi'), kube.accuratePodRequirements(again.template).resourceRequest.cpu)
  note(kube.getPodDependencies(again.template, 'ns')[1].name, select('#', karta.same(1, {2}, again)))
  local many = {}
  for i = 1, 500 do many[i] = {n = i} end
  note(karta.same(many)[500].n, #again.list, again.kind)
  local t = {b = 1, a = 2}
  t.z, t[1], t.y = 3, 4, 5
  for k, v in pairs(t) do note(k, v) end
  note(('x1y22'):match('(%d+)$'), string.format('%s %q', 'é', 'é'), ('é'):upper(), pcall(error, 'x', 0))
  note(xpcall(function() error('x', 0) end, function(e) return e .. '!' end))
  math.randomseed(7)
  note(math.random(1e9))
  return found, again
"""


def call(body: str) -> ScriptCall:
    modules = "local kube, karta = require('kube'), require('karta')"
    own = {"same": lambda *values: values}
    return machine.call(f"{modules} function F(o, again) {body} end", (OBJECT, OBJECT), own, results=2)


def at_the_end(depth: int, descend: str, attempt: str) -> str:
    """A script that tries something on the last levels, on each with a little more room, and then the check."""
    return f"""
      local height = 0
      local function attempt(n) {attempt} end
      local function down(n)
        if n > 0 then {descend} end
        height = height + 1
        if height < 16 then
          pcall(attempt, n)
          xpcall(function() attempt(n) end, function(e) return e end)
        end
      end
      down = down
      pcall(down, {depth})
      {CHECK}
    """.replace("local function down", "local down\n function down")


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize(("descent", "attempt"), few([*product(DESCENTS, ATTEMPTS)], "at"))
def test_exhausted_script_leaves_the_machine_as_new(descent: str, attempt: str) -> None:
    expected = Runtime(KUBE).run(call(CHECK))
    used = Runtime(KUBE)
    assert used.run(call(at_the_end(*DESCENTS[descent], ATTEMPTS[attempt]))) == expected
    assert used.run(call(CHECK)) == expected
