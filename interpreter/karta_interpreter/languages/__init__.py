"""The two languages of definitions, usable without the rest: jq and Lua."""
