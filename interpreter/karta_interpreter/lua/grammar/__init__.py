"""Text and tree: what a script looks like, read, judged and written again for the virtual machine.

The language is Lua 5.1 as gopher-lua 1.1.1 reads it, because that is what Karmada runs. The grammar stands in layers:
`lexer` and `cursor`, then `expressions`, `blocks` and `parser`; `syntax` is the tree. `rewriting` turns a script into
one that the reference implementation of Lua 5.1 accepts, and `surveying` finds what a script defines, uses and must not
use.
"""

from karta_interpreter.lua.grammar.mentions import Definition, Mention, Survey
from karta_interpreter.lua.grammar.parser import parse
from karta_interpreter.lua.grammar.rewriting import rewrite
from karta_interpreter.lua.grammar.surveying import survey
from karta_interpreter.lua.grammar.syntax import Chunk

__all__ = ["Chunk", "Definition", "Mention", "Survey", "parse", "rewrite", "survey"]
