"""Charsets in which a secret would not be found: those that write ASCII letters in other bytes.

Some servers answer in the charset that a client asks for, so it is not theirs to choose.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final

_NAME: Final = re.compile(rb"charset\*?\s*=\s*[\"']*([^\s;,\"']+)", re.IGNORECASE)
_USUAL: Final = "abcXYZ0189+/=._-"
# in these a secret is searched for; those of EBCDIC that are not known here have such names
_SEARCHED: Final = re.compile(r"utf_(?:16|32)(?:_[lb]e)?\Z")
_STRANGE: Final = re.compile(r"(?:x_)?(?:ibm|cp|ebcdic|utf_ebcdic|scsu|bocu)")
_LONGEST: Final = 40


def hides(content_type: bytes) -> bool:
    """Tell whether a text of this type may hold a secret in bytes that are not searched for."""
    return any(_hides(name[:_LONGEST].lower()) for name in _NAME.findall(content_type))


@lru_cache(maxsize=256)
def _hides(charset: bytes) -> bool:
    name = charset.decode("latin-1").replace("-", "_")
    try:
        known = codecs.lookup(name).name.replace("-", "_")
        return not _SEARCHED.match(known) and _USUAL.encode().decode(known) != _USUAL
    except UnicodeError:
        return True
    except (LookupError, ValueError):  # not known here, or no charset of texts
        return _STRANGE.match(name) is not None
