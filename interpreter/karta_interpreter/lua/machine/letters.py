"""Upper and lower case as Go's ``strings.ToUpper`` and ``strings.ToLower`` have it: character by character."""


def upper(text: str) -> str:
    """A string in capitals; a character stays where it has no single one.

    >>> upper("straße é")
    'STRAßE É'
    """
    return "".join(map(_upper, text))


def lower(text: str) -> str:
    """A string in small letters.

    >>> lower("İÉ")
    'ié'
    """
    return "".join(small if len(small := character.lower()) == 1 else small[0] for character in text)


def _upper(character: str) -> str:
    for capital in (character.upper(), character.title()):
        if len(capital) == 1:
            return capital
    return character
