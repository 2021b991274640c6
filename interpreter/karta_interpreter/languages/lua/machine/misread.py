"""Patterns of code that Lua reads otherwise than it looks, and of words of other languages, each with advice.

A pattern takes a time that is linear in the length of a script: what may repeat within another repetition has a bound.
"""

import re
from typing import Final

FLAGS: Final = re.DOTALL | re.MULTILINE
# `Retain` up to the object of the member, unless the parameters are swapped, which has a finding of its own.
_RETAIN: Final = r"\bfunction +Retain\((?!\s*\w{0,40}[oO]bserved\w{0,40}\s*,)\s*\w+, *(\w+)\s*\)"
# `AggregateStatus` up to a name that is read from an item: by its place, in a loop, or from a local.
_OF_ITEM: Final = (
    r"\bfunction +AggregateStatus\( *\w+ *, *(\w+) *\)(?:(?!\bfunction\b).)*?"
    r"(?:\b\1\[\w+\]"
    r"|\b(?:for +\w+ *, *(\w+) +in +i?pairs\( *\1 *\) +do\b|local +(\w+) *= *\1\[\w+\](?! *(?:and\b|[.\[])))"
    r"(?:(?!\bfunction\b|\bfor +\w+ *, *(?:\2|\3) +in\b|\blocal +(?:\2|\3) *=).){0,600}?(?<![.\w])(?:\2|\3))\."
)
_ITEM_NAME: Final = r"(?:(?:[cC]luster|[mM]ember)(?:_?[nN]ame)?|name)\b(?<!clusterName)"
_ITEM_HEALTH: Final = r"(?:is_?)?[hH]ealthy\b"
# The last name of a path to a number of parts that do not work.
_OF_TROUBLE: Final = (
    r"(?:failed|errors?|failures|pending|unready|missing|lost|unavailable|unhealthy|restarts)"
    r"(?:Replicas|Pods|Nodes|Workers|Count)?"
)
MISREAD: Final = {
    re.compile(
        r"""([=~]= *(?:[\w.]+|"[^"\n]*"|'[^'\n]*') +or +(?:"[^"\n]*"|'[^'\n]*'|nil\b|\d+\b))"""
        r"""(?! *(?:\.\.|[=~<>+*/-]))"""
    ): ("a text after `or` is always true", 'write the comparison again: `x == "A" or x == "B"`'),
    re.compile(
        r"\bfunction +ReflectStatus\( *(\w+) *\)(?:(?!\bfunction\b).)*?\breturn +(\1) *(?:;|\bend\b|$)", FLAGS
    ): (
        "the whole object is returned, and Karmada takes it for the status",
        "write return observedObj.status, or a table of its fields",
    ),
    re.compile(r"\bfunction +ReviseReplica\( *(\w*[rR]eplicas?) *, *\w*[oO]bj"): (
        "Karmada passes the object first",
        "write function ReviseReplica(desiredObj, desiredReplica)",
    ),
    re.compile(r"\bfunction +AggregateStatus\( *(\w*[iI]tems) *,"): (
        "Karmada passes the object first",
        "write function AggregateStatus(desiredObj, statusItems)",
    ),
    re.compile(
        r"(\b\w*(?:[rR]eplicas|[gG]eneration) *[=~]?= *(?:tostring|string\.format)\b"
        r"|\btostring\([^()\n]*\) *[=~]= *[\w.]*\.\w*(?:[rR]eplicas|[gG]eneration)\b)"
    ): (
        "this is a number, which no text equals, and an API server refuses a text",
        "write the number itself",
    ),
    re.compile(r"\bkube\.(getPodDependencies)\([^(),\n]*\)"): (
        "it has two arguments",
        "write kube.getPodDependencies(podTemplate, desiredObj.metadata.namespace)",
    ),
    re.compile(r"[.:](match|find|gmatch|gsub)\([^\n)]{0,200}\w\|\w"): (
        "a pattern has no alternatives",
        "write a test for each, with `or` between them",
    ),
    re.compile(r"""(?<=\w)(\[["'](?:spec|status|metadata)\.[\w.]+["']\])"""): (
        "a text in [ ] is one key, dots and all",
        "write the path without quotes, as obj.spec.replicas",
    ),
    re.compile(r"""((?:\.\w+ *[<>]=?|\b\w*[rR]eplicas? *[<>=~]=?) *["']\d+["'])"""): (
        "a text never equals a number, and a comparison of both by < or > is an error",
        "write the number without quotes",
    ),
    re.compile(r"""[.{,\[]\s*["']?(memory\b["'\]]{0,2} *= *(["']?)(?!0\b)\d{1,6}\2)(?=\s*[,}\n;])"""): (
        "memory without a unit is in bytes",
        'write such as "1024Mi"',
    ),
    re.compile(r"""[.{,\[]\s*["']?(cpu\b["'\]]{0,2} *= *(["']?)(?:[2-9]\d\d|\d{4,6})\2)(?=\s*[,}\n;])"""): (
        "cpu without a unit is in whole cores",
        'write such as "500m" for half of one',
    ),
    re.compile(r"""(["']\d+(?:\.\d+)?(?:[KMGTkmgt][bB]|[KMGT]iB|[kmgt]i|cores?|[vm]?cpus?)["'])"""): (
        "Kubernetes has no such unit",
        'write "512Mi" or "2Gi" of memory, and "500m" of cpu',
    ),
    re.compile(
        r"""\A(?!.*(?:\.|["']|[{,]\s{0,200})status\b[\w."'\[\]]{0,200}\s*=(?!=))(?!.*(?:\binsert\b|\baggregateStatus\b))"""
        r"""(?!.*\blocal +\w+ *= *\w+\.status\b)(?:(?!\bfunction\b).)*\bfunction +(AggregateStatus)\(""",
        re.DOTALL,
    ): (
        "no status is set, and Karmada takes nothing else",
        "write desiredObj.status = STATUS, and return desiredObj",
    ),
    re.compile(
        _RETAIN + r"(?!(?:(?!\bfunction\b).)*\breturn +\1\b)"
        r"(?:(?!\bfunction\b).)*?^[ \t]*(\1(?:\.\w+)+) *=(?!=)",
        FLAGS,
    ): ("a change of the object of the member is lost", "set the field in the first parameter, and return that"),
    re.compile(
        r"\bfunction +Retain\( *(\w+)\b(?:(?!\bfunction\b).)*?"
        r"\b(?:(\w+\.(spec|metadata|spec\.(?:t|podT)emplate(?:\.spec(?:\.containers)?)?) *= *(?!\1\b)\w+\.\3)"
        r" *(?:;|\bend\b|$)|for (\w+), (\w+) in pairs\(\w+\.(spec|metadata)\) do\s+(\w+\.\6\[\4\]) *= *\5\b)",
        FLAGS,
    ): (
        "all of this part stays as it is in the member, and no change of the template arrives",
        "set the fields that a member changes one by one",
    ),
    re.compile(r"""(\bstatus *= *["'](?:Healthy|Progressing|Degraded|Suspended|Missing)["'])"""): (
        "this is the health of Argo CD, which Karmada has not",
        "InterpretHealth returns true for Healthy, and false for the others",
    ),
    re.compile(
        rf"\b(not +[\w.]*\.{_OF_TROUBLE})(?! *[.=~<>(\[])\b"
        rf"|\b((?:if|elseif) +[\w.]*\.{_OF_TROUBLE}) +then\s+return +false\b"
    ): ("0 is true in Lua, as any number", "compare it: `(x or 0) == 0`, or `(x or 0) > 0`"),
    re.compile(
        r"^ {0,64}+local +(\w+) *=(?=[^\n]*(?:\bor +\d|[\w)] *[-+*] *[\w(]|= *#))(?![^\n]*\b(?:and|not)\b)"
        r"(?: *+(?:[\w.#*+-]|\([\w. ]{1,99} or +\d+\))++){1,60}+ *\n"
        r"(?:(?!\bfunction\b|\b\1 *=[^=])[\s\S]){0,600}?"
        r"\b(not +\1\b(?! *[.(\[])|(?:if|elseif|while) +\1(?= +(?:then|and|or|do)\b))",
        re.MULTILINE,
    ): ("this is a number, and any number is true in Lua, 0 as well", "compare it: `x > 0`, or `x == 0`"),
    re.compile(
        r"\b((?:getResourceQuantity\([^()\n]{0,200}\)|(?:cpu|mem|memory|gpu)) *\* *[\w.]*[rR]eplicas?)\b"
        r"|(?<![\w.])((?:\w++\.)*+\w*[rR]eplicas? *\* *(?:kube\.getResourceQuantity|(?:cpu|mem|memory|gpu))\b)"
    ): ("requirements are of one pod, and Karmada has the number of pods itself", "leave the number out"),
    re.compile(r"""(?<![\w.])(([\w.]+) *~= *(?:"[^"\n]*"|'[^'\n]*'|nil) +or +\2 *~= *(?:["']|nil\b))"""): (
        "a value is always other than one of two",
        "write `and` between them",
    ),
    re.compile(r"""(?<![\w.])(([\w.]+) *== *(?:"[^"\n]*"|'[^'\n]*'|nil) +and +\2 *== *(?:["']|nil\b))"""): (
        "a value never equals both of two",
        "write `or` between them",
    ),
    re.compile(r"\b(not +#[\w.]+|(?:if|elseif|while) +#[\w.]+(?= +(?:then|and|or|do)\b))"): (
        "a length is a number, and any number is true in Lua, 0 as well",
        "compare it: `#list > 0`, or `#list == 0`",
    ),
    re.compile(r"""(["']\{\{[^{}\n]{0,200}\}\}["'])"""): (
        "nothing fills in a text, which stays as it is",
        "read the field itself, as observedObj.status.phase",
    ),
    re.compile(r"\bfunction +AggregateStatus\( *\w+, *(\w*[iI]tems?) *\)(?:(?!\bfunction\b).)*?\b(\1\.\w+)", FLAGS): (
        "the items are a list, one for each cluster, and a list has no fields",
        "write `for _, item in ipairs(statusItems) do`, and read item.status",
    ),
    re.compile(r"[{,]\s*(replica) *=(?!=)"): ("nothing that a script returns has a key replica", "write replicas"),
    re.compile(r"\b(resourceRequests)\b"): ("requirements have no resourceRequests", "write resourceRequest"),
    re.compile(
        _RETAIN + r"(?:(?!\b(?:function|return)\b).)*?\breturn +(\1)\s+end\s*\Z",
        FLAGS,
    ): (
        "the object of the member stays as it is, and no change of the template arrives",
        "set the fields that a member changes in the first parameter, and return that",
    ),
    re.compile(r"\bfunction +Retain\( *(?=\w*[oO]bserved)(\w+) *, *\w*[dD]esired"): (
        "Karmada passes the desired object first",
        "write function Retain(desiredObj, observedObj)",
    ),
    re.compile(
        r"\bfunction +(?:AggregateStatus|Retain|ReviseReplica)\( *(\w+)\b[^()]*\)(?:(?!\bfunction\b).)*?"
        r"\breturn +(\1\.(?:status|spec|metadata)) *(?:;|\bend\b|$)",
        FLAGS,
    ): ("what this function returns is the whole object", "return the object itself, not a field of it"),
    re.compile(r"\bfor +\w+(?: *, *\w+)? +in +(\w*[iI]tems) +do\b"): (
        "a loop goes through the results of a function, and this is none",
        "write `for _, entry in ipairs(list) do`",
    ),
    re.compile(
        r"^( *)for\b[^\n]*\n(\1 +)if\b[^\n]*\n\2 +return\b[^\n]*\n\2(else) *\n\2 +return\b[^\n]*\n\2end *\n\1end",
        re.MULTILINE,
    ): ("each way through this loop returns, so it sees one entry", "return for the others behind the loop"),
    re.compile(r"(\bfor \w+ *= *0 *, *#)"): ("the entries of a list begin with 1", "write `for i = 1, #list do`"),
    re.compile(
        r"""(\btype\([^()\n]*\) *[=~]= *(?:(?:nil|table|string)\b(?!\.)|"""
        r"""["'](?!(?:nil|number|string|boolean|table|function)["'])\w+["']))"""
    ): ("the type of a value is a text", 'write "nil", "number", "string", "boolean" or "table"'),
    re.compile(r"(\.status *[=~]= *(?:true|false)\b)"): (
        "the status of a condition is a text, which never equals true or false",
        'write "True" or "False"',
    ),
    re.compile(
        r"^[ \t]*(?:local +|for +(?:\w+ *, *)?)(\w+)\b(?= *(?:=|in\b))(?:(?!^end\b|(?<![.\w])\1\b(?! *=[^=])).){0,600}?"
        r"(?:^|\bthen|\bdo|;)[ \t]*(\1) *=(?!=)(?:(?!^end\b|(?<![.\w])\1\b).){0,600}^end\b",
        FLAGS,
    ): (
        "nothing reads this local after it is set, and no object changes",
        "set the field itself, as desiredObj.spec.replicas = desiredReplica",
    ),
    re.compile(r"\b(local +\w+ *=) *[^\n(){};]{1,200}\n\s*(?:end|else|elseif)\b"): (
        "a local ends with its block, and nothing reads this one",
        "leave out `local` to set the variable around the block",
    ),
    re.compile(r"\bfunction +ReviseReplica\( *\w+ *, *(\w+) *\)(?:(?!\bfunction\b).)*?\b(local +\1 *=)", re.DOTALL): (
        "this hides the number that is asked for",
        "give the local another name",
    ),
    re.compile(
        r"\bfunction +ReviseReplica\( *(?!\w{0,40}[rR]eplicas? *,)\w+ *, *(\w+) *\)(?:(?!\bfunction\b).)*?"
        r"\breturn +(\1) *(?:;|\bend\b|$)",
        FLAGS,
    ): ("what this function returns is the whole object", "return desiredObj"),
    re.compile(
        r"\bfunction +(?:AggregateStatus|Retain|ReviseReplica)\([^()]*\)(?:(?!\bfunction\b).)*?"
        r"\breturn +(\{ *(?:spec|status|metadata) *=)",
        re.DOTALL,
    ): ("what this function returns is the whole object", "set the field in the first parameter, and return that"),
    re.compile(
        r"\breturn +[^\n,]{1,200}, *([\w.\[\]]{1,200}\.resources\.(?:requests|limits)) *(?:;|\bend\b|$)", re.MULTILINE
    ): (
        "requirements are more than these amounts, and Karmada drops amounts that stand alone",
        "write {resourceRequest = …} around them",
    ),
    re.compile(rf"{_OF_ITEM}({_ITEM_NAME})", re.DOTALL): (
        "an item has the name of its cluster in clusterName",
        "write .clusterName",
    ),
    re.compile(rf"{_OF_ITEM}({_ITEM_HEALTH})", re.DOTALL): (
        "the health of an item is the text Healthy, Unhealthy or Unknown",
        'write .health == "Healthy"',
    ),
    re.compile(
        rf"{_OF_ITEM}((?!(?:status|clusterName|applied|appliedMessage|health)\b|{_ITEM_NAME}|{_ITEM_HEALTH})\w+)",
        re.DOTALL,
    ): (
        "an item is the report of a cluster, which has its fields in status",
        "write .status before the field: an item itself has clusterName, status, applied, appliedMessage and health",
    ),
    re.compile(
        r"(\bos\.time\( *\w[\w.\[\]]*\.\w*(?:Timestamp|TransitionTime)\b"
        r"|- *(?:tonumber\( *)?\w[\w.\[\]]*"
        r"\.(?:creationTimestamp|deletionTimestamp|lastTransitionTime|lastUpdateTime)\b"
        r"|\.(?:creationTimestamp|deletionTimestamp|lastTransitionTime|lastUpdateTime)"
        r" *(?:[<>]=? *(?:\d+|os\.time)\b|- *\w+))"
    ): (
        "this is a text such as 2026-01-01T00:00:00Z, and no number of seconds",
        "take it apart by string.match, and give the parts to os.time{year = …, month = …, day = …}",
    ),
    re.compile(r"""\b(?:find|match)\((?:[^\n"']{0,200},)? *(["'][A-Za-z0-9]+(?:-[A-Za-z0-9]+)+["']) *\)"""): (
        "in a pattern `-` repeats what is before it, so this text does not match itself",
        "write string.find(text, part, 1, true), or %- for each -",
    ),
    re.compile(r"""(["'](?:[^"'\\\n]|\\[^dDwWsS.+*?()\[\]^$-]){0,200}\\[dDwWsS.+*?()\[\]^$-])"""): (
        "a text has no such \\, which is dropped",
        "a pattern has %d, %w and %s for kinds of letters, and %. for a dot itself",
    ),
    re.compile(r"""\b(?:g?match|find)\((?:[^\n"']{0,200},)? *(["']\*)"""): (
        "at the start of a pattern `*` is a letter like others",
        "write `.*` for any text, or leave it out",
    ),
    re.compile(r"(?:=|\breturn) *[\w.]+\.\w+ +(or +true)\b(?! *(?:and|or|[=~]=))"): (
        "false or true is true, so this is never false",
        "write `x ~= false`",
    ),
    re.compile(r"\b(and +(?:false|nil) +or)\b"): (
        "false and nil are never the result, which is always what is behind `or`",
        "turn it round: `not x and A or B`, or write if ... then ... else ... end",
    ),
    re.compile(r"(?<![\w.])([\w.]+ *(?:[<>]=?|==) *[\w.]+ *(?:[<>]=?|==) *(?!true\b|false\b)[\w.]+)"): (
        "the second comparison is with true or false, the result of the first",
        "write `a < b and b < c`",
    ),
    re.compile(r"""([=~]= *\( *(?:"[^"\n]*"|'[^'\n]*') +or)\b"""): (
        "the first text is compared, and never the second",
        'write the comparison again: `x == "A" or x == "B"`',
    ),
    re.compile(r"\blocal +(\w+) *= *(pcall)\((?=[\s\S]{0,600}?\breturn +\1\b)"): (
        "the first result of pcall says whether the function has run",
        "write local ok, result = pcall(…), and return ok and result",
    ),
    re.compile(
        r"\bfunction +(\w+) *\((?:(?!\bfunction +\1\b)[\s\S]){0,1500}?"
        r"\b((?:if|elseif|not) +\1) *(?=\b(?:then|and|or)\b)"
    ): ("a function itself is always true", "call it: write NAME(…)"),
    re.compile(r"(\b(?:find|match)\([^()\n]*\) *[=~]= *true\b)"): (
        "the result is a position or a text, which never equals true",
        "write `~= nil`",
    ),
    re.compile(r"""(\blower\([^()\n]*\)\)? *[=~]= *["'][^"'A-Z\n]*[A-Z])"""): (
        "a text in small letters never equals one with capitals",
        "write all letters small",
    ),
    re.compile(
        r"(\.(?:labels|annotations|matchLabels|conditions|spec|template|containers)"
        r" *[=~]= *[\w.]+\.(?:labels|annotations|matchLabels|conditions|spec|template|containers))\b(?! *[.\[(])"
    ): ("two tables are equal only if they are one and the same", "compare their fields one by one"),
    re.compile(
        r"""\blocal +(\w+) *= *\{ *["'][^"'{}\n]*["'] *(?:, *["'][^"'{}\n]*["'] *)*\}[\s\S]{0,600}?"""
        r"""(?<![.\w])(\1\[[\w.\[\]]{1,80}?\.(?:phase|status|type|reason|state|kind|name)\])"""
    ): ("the keys of a list are numbers", "write {A = true, B = true}, and read it by name"),
    re.compile(r"([=~]= *not +nil)\b"): ("not nil is true", "write `~= nil`"),
    re.compile(r"\b(\w+\[ *- *\d+ *\])(?! *=[^=])"): (
        "nothing has a number below 1 in a list",
        "the last entry is list[#list]",
    ),
    re.compile(r"(?<![\w.])((?=[\w.]{0,60}[cC]ond)([\w.]{1,80})\[# *\2 *- *1\])"): (
        "this is the last entry but one",
        "the last entry is list[#list]",
    ),
    re.compile(r"(?<![\w.])([\w.]+)(\[# *\1\] *=) *\{"): (
        "this replaces the last entry, and adds none",
        "write list[#list + 1] = x, or table.insert(list, x)",
    ),
    re.compile(r"\b(for +(\w+) *= *0) *, *(?!#)[^\n]{1,60}? do\b(?=[\s\S]{0,300}?\w\[\2\])"): (
        "the entries of a list begin with 1",
        "write `for i = 1, #list do`",
    ),
    re.compile(r"(?<![\w.])(?=(\w+)\.)\1(\.(\w+)) *= *(?:[\w.]*\.)?\1\[\3\]"): (
        "a dot is before the name of a field, and this is a variable",
        "write [ ] around it, as on the right side",
    ),
    re.compile(
        r"\.(?:labels|annotations)((?:\.\w+|\[[^\]\n]*\]) *= *(?:\w*[rR]eplicas?|\d+|true|false)) *$", re.MULTILINE
    ): (
        "labels and annotations are texts",
        "write tostring(x), or the text in quotes",
    ),
    re.compile(r"\bif +([\w.]+) *== *nil +then\s+[\w.]+ *= *(\1) *(?:;|\bend\b|$)", re.MULTILINE): (
        "this is nil here",
        "write `~= nil`",
    ),
    re.compile(r"^[ \t]*((\w+(?:\.\w+)+) *= *\2) *$", re.MULTILINE): (
        "both sides are the same, and nothing changes",
        "write the other object on the right side",
    ),
    re.compile(r"(?<=[\w)\]]) *[-+] *([\w.\[\]]*\.\w+ +or +\d+)\b"): (
        "a sum comes before `or`, and fails when the field is absent",
        "write (x or 0)",
    ),
    re.compile(r"\binsert\( *\w+ *, *(kube\.getPodDependencies)\("): (
        "this is a list, and becomes one entry",
        "write for _, each in ipairs(kube.getPodDependencies(…) or {}) do, and insert each",
    ),
    re.compile(r"((?:=|\breturn\b) *table\.insert)\("): (
        "table.insert has no result",
        "write table.insert(list, x) alone",
    ),
    re.compile(r"""\btable\.insert\( *[\w.]+ *, *("[^"\n]*"|'[^'\n]*') *,"""): (
        "the second of three is the number of a place",
        "write table.insert(list, x), or object[key] = x",
    ),
    re.compile(r"""\b(labelSelector *= *\{) *(?!match(?:Labels|Expressions)\b)[\w\["']"""): (
        "a selector has its labels in matchLabels",
        'write labelSelector = {matchLabels = {app = "web"}}',
    ),
    re.compile(r"\bfor (\w+) in i?pairs\([^)\n]{0,200}\) do\b(?=(?:(?!\bend\b).){0,200}?\b\1[.\[])", re.DOTALL): (
        "the first variable of a loop is the number or key of an entry",
        "write `for _, entry in ipairs(list) do`",
    ),
    re.compile(
        r"""([<>]=? *(["'])\d++(?:\.\d++)?(?:[mk]|[KMGTPE]i?)\2|(["'])\d++(?:\.\d++)?(?:[mk]|[KMGTPE]i?)\3 *[<>])"""
        r"""|\b((?:cpu|mem|memory) *[<>]=? *["'][\d.]{1,20}["'])"""
        r"""|((?:\.memory|\b(?:requests|limits|resourceRequest)\.cpu)\b *[<>]=? *[\w.\[\]]{1,200}"""
        r"""|\bmath\.(?:max|min)\([^()\n]{0,200}?(?:\.memory|\b(?:requests|limits|resourceRequest)\.cpu)\b)"""
    ): (
        'quantities are texts, which are compared letter by letter: "500m" comes behind "2", and "1Gi" before "512Mi"',
        "compare kube.getResourceQuantity(a) with kube.getResourceQuantity(b)",
    ),
    re.compile(
        r"\blocal +(\w+) *= *[\w.\[\]]{1,200}\.(?:(?:creation|deletion)Timestamp|last(?:Transition|Update|Probe)Time"
        r"|status\.(?:start|completion)Time)\b[^\n]{0,200}\n"
        r"(?:(?!\bfunction\b|(?<![\w.])\1 *=[^=])[\s\S]){0,600}?"
        r"(- *\1\b(?!\.)|(?<![\w.])\1 *(?:[-+](?!-)|[<>]=? *(?:\d|os\.time)))"
    ): (
        "this is a text such as 2026-01-01T00:00:00Z, and no number of seconds",
        "take it apart by string.match, and give the parts to os.time{year = …, month = …, day = …}",
    ),
    re.compile(
        r"\bfunction +InterpretHealth\((?:(?!\bfunction\b).)*?"
        r"\breturn +(\w[\w.]{0,200}\.(?:status|phase|state|reason)) *(?:;|\bend\b|$)",
        FLAGS,
    ): ("this is a text or an object, and health is true or false", 'compare it: `c.status == "True"`'),
    re.compile(
        r"""\bfunction +AggregateStatus\((?:(?!\bfunction\b).)*?"""
        r"""(\.health *[=~]= *(?:true|false)\b|\.applied *[=~]= *["']\w*["'])""",
        re.DOTALL,
    ): (
        "the health of an item is a text, and applied is true or false",
        'write `item.health == "Healthy"`, or item.applied alone',
    ),
    re.compile(
        r"""\blocal +(\w+) *= *(?:true|false)\b(?:(?!\bfunction\b)[\s\S]){0,600}?"""
        r"""(?<![\w.])(\1 *[=~]= *(["'])(?:true|false)\3)"""
    ): ("true and false have no quotes, and no text equals them", "write the local alone, or `x == false`"),
    re.compile(
        r"\binsert\( *\w+ *, *(\w[\w.\[\]]{0,200}\.(?:conditions|containers|volumes|tolerations|env|ports)) *\)"
    ): ("this is a list, and becomes one entry", "write for _, each in ipairs(LIST or {}) do, and insert each"),
    re.compile(
        r"\bfor +(\w+) *, *(\w+) +in +i?pairs\([^)\n]{0,200}\) +do\b(?:(?!\bend\b)[\s\S]){0,300}?\b\w+(\.\1 *= *\2\b)"
    ): ("a dot is before the name of a field, and this is a variable", "write [ ] around it, as status[key] = value"),
    re.compile(
        r"^[ \t]*local +(\w+) *= *\w+(?:\.\w+){1,9} +or +\{\} *\n"
        r"(?=(?:(?!(?<![\w.])\1\b(?! *[.\[])|^end\b).){0,600}^end\b)"
        r"(?:(?!^end\b).){0,600}?(?<![\w.])(\1(?:\.\w+|\[[^\]\n]{1,80}\]) *=)(?!=)",
        FLAGS,
    ): (
        "if the field is absent, this is a new table, which no object has",
        "write x.field = x.field or {} before, and then local y = x.field",
    ),
    re.compile(
        r"\blocal +(\w+)\b(?:(?!\bfunction\b)[\s\S]){0,600}?"
        r"^[ \t]+(local +\1 *=)(?=[^\n]*[({])(?![^\n]*\bfunction\b)[^\n]{1,200}\n\s*(?:end|else|elseif)\b",
        re.MULTILINE,
    ): ("this is another local, which ends with its block", "leave out `local` to set the one around the block"),
    re.compile(
        rf"\A(?!.*\.{_OF_TROUBLE} *[=~]= *nil\b).*?(?<![\w.])(\w[\w.]*\.{_OF_TROUBLE} *== *0)\b(?!\.)", re.DOTALL
    ): ("a count of nothing is absent in most kinds, and nil never equals 0", "write `(x or 0) == 0`"),
    re.compile(r"""\A(?!.*\bnil\b).*?\breturn +(\w[\w.]{0,200} *== *(?:""|''))(?= *(?:;|\bend\b|$))""", FLAGS): (
        "an absent field is nil, which is no empty text",
        'write `(x or "") == ""`',
    ),
    re.compile(
        r"(?<![\w.])(\w*[vV]ol(?:ume)?s?(?:\[\w+\])?"
        r"\.(?:secret\.name|persistentVolumeClaim\.name|configMap\.configMapName))\b"
    ): (
        "a volume has secret.secretName, persistentVolumeClaim.claimName and configMap.name",
        "write the field as pods have it",
    ),
    re.compile(
        _RETAIN + r"(?:(?!\bfunction\b).)*?"
        r"\.spec(?:\.\w{1,64}){1,6} *= *(\1\.status\.\w+)",
        re.DOTALL,
    ): (
        "a status says what there is, and spec what there should be",
        "write the field of observedObj.spec",
    ),
    re.compile(
        _RETAIN + r"(?:(?!\bfunction\b).)*?"
        r"\b((\w+) *= *\1) *$(?:(?!\bfunction\b).){0,400}?\breturn +\3 *(?:;|\bend\b|$)",
        FLAGS,
    ): (
        "this is the object of the member, and most changes of the template never arrive",
        "set the fields that a member changes in the first parameter, and return that",
    ),
    re.compile(r"(?<![\w.])(\w[\w.]{0,99}[rR]eplicas?\)? */ *\(?[\w.]{0,99}[rR]eplicas?\b\)? *[<>]=? *[1-9]\d)\b"): (
        "a part of a whole is at most 1",
        "write `a / b * 100`, or compare with such as 0.9",
    ),
    re.compile(
        r"\bfunction +InterpretHealth\((?:(?!\bfunction\b).)*?"
        r"\b(return +\w+(?:\.\w+){1,9} +and\b|and +\w+(?:\.\w+){1,9}(?= *(?:;|\bend\b|$)))(?! *\n *(?:and|or|==)\b)",
        FLAGS,
    ): (
        "an absent field is nil, and health is true or false",
        "write `x ~= nil`, and `x == true` for a field that is so",
    ),
    re.compile(
        r"^([ \t]*)local +(\w+) *\n\1for\b[^\n]*\n(?:\1[ \t][^\n]*\n)+\1end *\n\1return +(\2) *$", re.MULTILINE
    ): ("if no entry sets this, it is nil", "begin with a value, as `local ready = false`"),
    re.compile(r"\b(tonumber\( *[\w.\[\]]{1,200}\.(?:memory|(?:requests|limits|resourceRequest)\.\w+) *\))"): (
        "a quantity may have a unit, and then this is nil",
        "write kube.getResourceQuantity(text)",
    ),
    re.compile(
        r"\b((\w+)\[(?:[\w.]{0,200}[nN]ame|role|key|k|kind|type)\] *= *\{ *(?:apiVersion|kind|name|namespace)\b)"
        r"(?:(?!\bfunction\b)[\s\S]){0,600}?\breturn +\2 *(?:;|\bend\b|$)",
        re.MULTILINE,
    ): ("this is an object by name, and a list is asked for", "write table.insert(list, {…})"),
    re.compile(r"\bfor +\w+ *= *1 *, *(#[\w.]{1,200} *\+ *1)\b"): (
        "behind the last entry there is nothing",
        "write `for i = 1, #list do`",
    ),
    re.compile(r"""(?<![\w."'])(\w[\w.]{0,200}\.(?:containers|initContainers|volumes)\.(?!n\b)\w+)\b"""): (
        "a list has no fields, and its entries have them",
        "write list[1].field, or `for _, each in ipairs(list) do`",
    ),
    re.compile(
        r"\bfunction +AggregateStatus\( *(\w+)\b[^()]*\)"
        r"(?:(?:(?!\bfunction\b|(?<![\w.])\1\.status[\w.]{0,200} *[=,](?!=| *\1\.status +or\b)).)*?"
        r"\blocal +(\w+) *= *\1\.status\b(?: +or +\{ *\})? *$)?+"
        r"(?=(?:(?!\bfunction\b).)*?(?<![\w.])((?:\1\.status|\2)\.\w+) *=(?!=)(?=[^\n]{0,200}\+)"
        r"[^\n]{0,200}?(?<![\w.])\3\b)"
        r"(?>\bif +(?:not +(?:\1\.status|\2)[\w.]*|(?:\1\.status|\2)[\w.]* *== *nil) +then\b"
        r"(?:(?!\b(?:end|else)\b).){0,300}\bend\b"
        r"|(?!\bfunction\b|(?<![\w.])(?:\3|\1\.status|\2) *=(?!=| *(?:\3|\1\.status|\2) +or\b[^\n+]{0,200}$)"
        r"|(?<![\w.])\3 *,|\b(?:\1\.status|\2)\[|\w\( *(?:\1|\1\.status|\2) *\)).)*+"
        r"(?<![\w.])(\3) *=(?!=)[^\n]{0,200}?(?<![\w.])\3\b",
        FLAGS,
    ): (
        "the object keeps the status of the last call, and each call adds to it",
        "sum in a local that begins with 0, and then set the field",
    ),
    re.compile(
        r"\bfor +(\w+) *(?:, *\w+ +in +ipairs\( *([\w.]+) *\)|= *1 *, *#([\w.]+)) +do\b"
        r"(?:(?!\bfunction\b|\bfor +\1\b|(?<![\w.])\1 *=(?!=)).){0,600}?"
        r"\b(table\.remove\( *(?:\2|\3) *, *\1 *\))"
        r"(?!(?:(?!\b(?:end|else|elseif)\b).){0,200}\b(?:break|return|goto)\b)",
        re.DOTALL,
    ): ("the entry behind one that is removed takes its place, and is passed over", "write `for i = #list, 1, -1 do`"),
    re.compile(r"\b(for +\w+ *= *(?!-?[01]\b)#?[\w.]{1,200} *, *[01]) +do\b"): (
        "a loop without a step goes up, and never begins above its end",
        "write `for i = #list, 1, -1 do`",
    ),
    re.compile(
        r"\bfor +\w+ *, *(\w+) +in +i?pairs\([^\n]{1,200}?\) +do\b(?:(?!\b(?:function|for)\b).){0,400}?"
        r"""\b((?:if|elseif) +\1\.(?:type *~= *(["'])\w+\3 +or +\1\.status *~= *(["'])(?:True|False|Unknown)\4"""
        r"""|status *~= *(["'])(?:True|False|Unknown)\5 +or +\1\.type *~= *(["'])\w+\6))"""
        r" +then\s+(?:\w+ *= *|return +)false\b",
        re.DOTALL,
    ): (
        "any condition of another type makes this false",
        'write `c.type == "Ready" and c.status ~= "True"`',
    ),
    re.compile(r"""\bfind\((?:[^\n"']{0,200},)? *(["'][.^$%()\[]["']) *(?:, *1 *)?\)"""): (
        "this sign has a meaning of its own in a pattern, and does not stand for itself",
        'write % before it, as "%.", or string.find(text, ".", 1, true)',
    ),
    re.compile(
        r"\bnodeClaim *= *\{(?:(?:[^{}]|\{[^{}]{0,200}\}){0,300}?,)?\s*"
        r"((?!(?i:hardNodeAffinity|nodeSelector|tolerations)\b)[A-Za-z]\w*) *=(?!=)"
        r"|\bnodeClaim\.((?!(?i:hardNodeAffinity|nodeSelector|tolerations)\b)\w+) *=(?!=)"
    ): (
        "a nodeClaim has only hardNodeAffinity, nodeSelector and tolerations",
        "write tolerations, or hardNodeAffinity = affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    ),
    re.compile(r"\b(hardNodeAffinity *=[\w. ()]{1,200}\.nodeAffinity)\b(?! *\.| +(?:and|or)\b)"): (
        "this is the affinity to nodes, whole, and Karmada takes the terms that are required",
        "write affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    ),
}
"""Code that Lua reads otherwise than it looks, with the reason and the advice. The last group is shown."""

IN_LINE: Final = {
    re.compile(r"^\s*[\w./:-]+\.lua\s*$"): "write the script itself, not the name of its file",
    re.compile(r"^\s*[\w.]+ *[=~]= "): "a field is set by one `=`, and a comparison is written behind `return` or `if`",
    re.compile(r"\{\{[-$. \w]"): "this is a template of Helm or Go: render it first, as by `helm template`",
    re.compile(r"^\s*return +[\w.]+ *=(?!=)"): (
        "equal to is written `==`, and a field is set on a line of its own, before `return`"
    ),
    re.compile(r"""[{,] *["'][^"'\n]*["'] *="""): "a key is written without quotes: {key = value}",
    re.compile(r"\[\] *\||\| *(?:length|select|any|all|map|first|last|keys)\b|\breturn +\.\w"): (
        "this is jq: a field is read from the object, as observedObj.status.phase, and #list is a length"
    ),
    re.compile(r"<(?:const|close)>"): "leave it out: this is of a later Lua",
    re.compile(r"/\*"): "a comment begins with `--`, and one of several lines is --[[ ... ]]",
    re.compile(r"\*\*"): "a power is written x ^ y",
    re.compile(r"\?\."): "write `object.field and object.field.name`, or `(object.field or {}).name`",
    re.compile("`"): "a text stands in straight quotes, and no ``` around a script",
    re.compile(r"^(?!.*\bfor(?:each)?\b).*\w in\b"): (
        'one of several is written `x == "A" or x == "B"`, and a field that is there `object.field ~= nil`'
    ),
    re.compile(r"\.\w+-\w+(?: *=|$)"): 'a key with another sign than _ is written in brackets: `labels["app-name"]`',
    re.compile(r"\bfunction\b[^()]*\([^()]*\) *\{"): "a function is written `function NAME(x) ... end`, without { }",
    re.compile(r"\$\{?\w"): "a variable is written without $, and in a text joined by `..`",
    re.compile(r"\?"): "a choice is written `condition and value or other`, a default `value or other`",
    re.compile(r"\\$"): "remove the \\: a line needs no sign to go on",
    re.compile(
        r"\b(?:for|while) *\(|\bfor\b[^\n;]{0,200};"
    ): "a loop is written `for i = 1, n do ... end`, or `while x do ... end`",
    re.compile(r"\w(?:\+\+|--)"): "one more is written `x = x + 1`",
    re.compile(r"\bif\b.{0,200}?[^=~<>!]=[^=]"): "equal to is written `==`",
    re.compile(r"\b(?:async|await|new|class|import|from|export|public|void|int|bool|string|func|fn|lambda)\b"): (
        "Lua has no such word: a function is `function NAME(x) ... end`, a variable `local x = 1`"
    ),
    re.compile(r"\braise\b|\bthrow\b|\bassert [^(]"): 'an error is raised by `error("text")`',
    re.compile("=>"): "a function is written `function(x) return x.field end`",
    re.compile(":="): "a value is assigned by `=`",
    re.compile("[\u201c\u201d\u2018\u2019]"): 'a text stands in straight quotes: "..."',
    re.compile(r":(?= *[\d\"'{])|(?<=\w):(?= )"): "a key is written `{key = value}`, and a variable has no type",
    re.compile(
        r"\) ?{"
    ): "a block begins with `then` or `do`, that of a function with nothing, and each ends with `end`",
    re.compile(r"\bdef\b"): "a function is written `function NAME(x) ... end`",
    re.compile(r"\bforeach\b"): "a loop is written `for _, entry in ipairs(list) do ... end`",
    re.compile(r"\belif\b"): "write `elseif`",
    re.compile(r"\bReturn\b"): "write `return`",
    re.compile(r"\bis\b"): "equal to is written `==`, and other than `~=`",
    re.compile(r"\bswitch\b"): "a choice is written `if ... then ... elseif ... then ... else ... end`",
    re.compile(r"\b(?:var|let|const)\b"): "a variable is declared by `local`",
    re.compile(r"^\s*(?:else)?if\b(?!.*\bthen\b)"): "write `then` behind the condition",
}
"""Parts of a line with an error, with the advice."""

WORDS: Final = {
    "else if": "`else if` begins another `if` with an `end` of its own; write `elseif`",
    r"\btry\b": "an error is caught by `local ok, result = pcall(function() ... end)`",
    "continue": "there is no `continue`; write `goto next`, and `::next::` at the end of the loop",
    r"\breturn\b[^;\n]*; *(?!end\b)\w": "nothing may follow `return` but `end`",
    "'}' expected": "entries have commas between them",
    "<eof> expected near 'end'": "there is one `end` too many",
    r"(?s)\A(?!.*\bfunction\b)": "a script defines a function, as `function InterpretHealth(observedObj) ... end`",
    "near <eof>": "a block has no `end`, or a `--` hides it, because the script is on one line: begin it with |",
}
"""Parts of a script with an error in another line, or of the message of the error, with the advice."""
