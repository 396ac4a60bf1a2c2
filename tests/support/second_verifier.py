"""A verifier of bundles that shares no code with ghost, written from `docs/formats` alone.

It is called with `docs/formats/entries`, a bundle and keys, and needs nothing but PyNaCl. It judges
the axes up to *disclosure*, of a log that never changed its key: others it leaves undecided.
"""

import base64
import hashlib
import hmac
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

STATES = ("invalid", "incomplete", "absent", "valid")  # the worst first
Key = tuple[str, bytes, bytes]  # name, key id, public key
Note = tuple[str, list[Key]]  # the text, and of each line the name, the key id, the signature
TEXT, NUMBER, ANY = {"type": "string"}, {"type": "integer", "minimum": 0}, dict[str, Any]()
DISCLOSED = {"seq": NUMBER, "field": TEXT, "salt": TEXT, "data": TEXT}
BUNDLE: dict[str, Any] = {  # in the words of the JSON Schemas of the entries
    "v": NUMBER,
    "entries": {"type": "array", "items": TEXT, "maxItems": 1_000_000},
    **dict.fromkeys(("seal", "head", "spawn_proof", "seal_proof"), TEXT),
    "disclosures": {"type": "array", "items": {"type": "object", "properties": DISCLOSED}},
    **dict.fromkeys(("consistency", "hints", "timestamps", "handovers"), ANY),
}
KINDS = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
ENDING = ["session.closed", "session.seal"]
EVERY = ("v", "type", "log", "sid", "seq", "prev", "ts", "id")
COMMON = {"v": {**NUMBER, "minimum": 1}, "type": {"pattern": "^[a-z]{1,32}[.][a-z]{1,32}$", **TEXT}}


def need(condition: object, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def fits(value: Any, rule: Mapping[str, Any]) -> bool:
    """Say whether a value fits a JSON Schema; only the words that are used here are known."""
    kind = KINDS.get(rule.get("type", ""), type(value))
    if type(value) is not kind or value not in rule.get("enum", [rule.get("const", value)]):
        return False
    if isinstance(value, str):
        pattern = rule.get("pattern", "").replace("$", r"\Z")
        return len(value) <= rule.get("maxLength", 2**53) and bool(re.search(pattern, value))
    if isinstance(value, int):
        return bool(rule.get("minimum", value) <= value <= rule.get("maximum", value))
    if isinstance(value, list):
        short = len(value) <= rule.get("maxItems", 2**53)
        return short and all(fits(each, rule.get("items", {})) for each in value)
    known = rule.get("properties", {})
    right = all(fits(each, known.get(name, {})) for name, each in value.items())
    return right and (not known or set(rule.get("required", known)) <= set(value) <= set(known))


def plain(value: Any, level: int = 1) -> bool:
    """Say whether a value is one of GJ1: no null, no float, good names, eight levels."""
    if isinstance(value, dict | list):
        names = value if isinstance(value, dict) else []
        good = all(re.fullmatch("[a-z][a-z0-9_]{0,31}", name) for name in names)
        below = value.values() if isinstance(value, dict) else value
        return level <= 8 and good and all(plain(each, level + 1) for each in below)
    return isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**53)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def gj1(data: bytes, limit: int) -> dict[str, Any]:
    value = json.loads(data.decode())
    need(compact(value).encode() == data and len(data) <= limit, "JSON in another form")
    need(isinstance(value, dict) and plain(value), "not GJ1")
    return dict(value)


def unbase64(text: str, size: int | None = None) -> bytes:
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text and size in {None, len(data)}, "other base64")
    return data


def decimal(text: str) -> int:
    need(re.fullmatch("0|[1-9][0-9]{0,15}", text) and int(text) < 2**53, f"{text!r} is no number")
    return int(text)


def key_of(text: str) -> Key:
    if bare := re.fullmatch("ed25519_public_([0-9a-f]{64})", text):
        name, said, data = "", None, b"\1" + bytes.fromhex(bare[1])
    else:
        name, said, rest = (*text.split("+", 2), "", "")[:3]
        data = unbase64(rest, 33)
    key_id = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4]
    right = data[0] == 1 and said in {None, key_id.hex()}
    need(right and crypto_core_ed25519_is_valid_point(data[1:]), f"not a key: {text}")
    return name, key_id, data[1:]


def note(whole: str) -> Note:
    text, gap, tail = whole.rpartition("\n\n")
    lines = [re.fullmatch("\u2014 ([^ +]+) ([^ ]+)", line) for line in tail.split("\n")[:-1]]
    need(gap and tail.endswith("\n") and 1 <= len(lines) <= 16 and None not in lines, "not a note")
    raw = [(line[1], unbase64(line[2])) for line in lines if line]
    return text + "\n", [(name, data[:4], data[4:]) for name, data in raw]


def signed(found: Note, by: Key) -> bool:
    mine = [raw for name, key_id, raw in found[1] if (name, key_id) == by[:2]]
    try:
        return any(mine) and all(VerifyKey(by[2]).verify(found[0].encode(), raw) for raw in mine)
    except (CryptoError, ValueError):
        return False


def checkpoint(found: Note) -> tuple[str, int, bytes]:
    lines = found[0].split("\n")
    need(len(lines) == 4, "not a checkpoint of three lines")
    return lines[0], decimal(lines[1]), unbase64(lines[2], 32)


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def tree_root(hashes: Sequence[bytes]) -> bytes:
    if len(hashes) < 2:
        return hashes[0]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return node(tree_root(hashes[:half]), tree_root(hashes[half:]))


def proved_index(leaf: bytes, proof: str, head: str) -> int:
    """Check a proof as RFC 9162 says; return -1 if it does not lead to the head."""
    lines, _, rest = proof.partition("\n\n")
    name, index, *hashes = [*lines.split("\n"), ""]
    need(name == "c2sp.org/tlog-proof@v1" and index.startswith("index "), "not a proof")
    path, at = [unbase64(each, 32) for each in hashes[:-1]], decimal(index[6:])
    _, size, root = checkpoint(note(head))
    right, here, last = rest == head and at < size and len(path) <= 63, at, size - 1
    for sibling in path:
        leaf = node(sibling, leaf) if here & 1 or here == last else node(leaf, sibling)
        while here == last and not here & 1 and here:
            here, last = here >> 1, last >> 1
        here, last = here >> 1, last >> 1
    return at if right and leaf == root and not last else -1


def read(data: bytes, keys: list[str], schemas: Mapping[str, Any]) -> SimpleNamespace:
    """Read everything that the axes look at: steps 1 to 4 of bundle.md."""
    parts = gj1(data, 64 << 20)
    later = fits(parts.get("v"), {**NUMBER, "minimum": 2}) or "handovers" in parts
    need(not later, "later")
    rule = {"properties": BUNDLE, "required": ["v", "entries"]}
    need(fits(parts, rule) and parts["entries"], "not a bundle")
    common = schemas["session.closed"]["properties"] | COMMON
    it = SimpleNamespace(parts=parts, schemas=schemas, notes=[*map(note, parts["entries"])])
    it.bodies = [gj1(text[:-1].encode(), 16_384) for text, _ in it.notes]
    for whole, (_, lines), body in zip(parts["entries"], it.notes, it.bodies, strict=True):
        need(len(whole.encode()) <= 65_535 and len(lines) == 1, "not an entry")
        need(all(each in body and fits(body[each], common[each]) for each in EVERY), "no entry")
    it.hashes = [hashlib.sha256(b"\0" + each.encode()).digest() for each in parts["entries"]]
    it.head, it.seal = (note(parts[each]) if each in parts else None for each in ("head", "seal"))
    it.log_name, it.name = it.bodies[0]["log"], f"{it.bodies[0]['log']}/s/{it.bodies[0]['sid']}"
    it.given = [key_of(each) for each in keys]
    it.key, it.log = (key_of(str(it.bodies[0].get(each))) for each in ("vkey", "log_vkey"))
    it.logs = [each for each in it.given if each[0] == it.log_name] or [it.log]
    need((it.key[0], it.log[0]) == (it.name, it.log_name), "a key bears another name")
    return it


def signatures(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    for seq, each in enumerate(it.notes + ([it.seal] if it.seal else [])):
        if not signed(each, it.key):
            yield "invalid", f"entry {seq}" if seq < len(it.notes) else "seal"


def chain(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    fixed, prev, last = (it.log_name, it.bodies[0]["sid"]), "0" * 64, {"ts": 0, "type": ""}
    for seq, (body, leaf) in enumerate(zip(it.bodies, it.hashes, strict=True)):
        right = (body["log"], body["sid"], body["seq"], body["prev"]) == (*fixed, seq, prev)
        right &= (body["type"] == "session.spawn") == (seq == 0) and body["ts"] >= last["ts"]
        if not right or last["type"] == "session.seal":
            yield "invalid", f"entry {seq}"
        prev, last = leaf.hex(), body


def statement(it: SimpleNamespace, size: int, root: bytes) -> str:
    said = {name: value for name, value in it.bodies[-2].items() if name not in EVERY}
    about = {"log": it.log_name, "session": it.bodies[0]["sid"], "entries": size, "closed": said}
    about |= {"spawn": it.hashes[0].hex(), "closed_at": it.bodies[-2]["ts"]}
    subject = [{"name": it.name, "digest": {"sha256": root.hex()}}]
    whole = {"_type": "https://in-toto.io/Statement/v1", "predicateType": "urn:ghost:session:1"}
    text = compact({**whole, "subject": subject, "predicate": about})
    return f"DSSEv1 28 application/vnd.in-toto+json {len(text.encode())} {text}"


def complete(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    types, size = [each["type"] for each in it.bodies], len(it.bodies) - 1
    if it.seal is None and types[-1] != "session.seal":
        yield "incomplete", "open"
    elif it.seal is None or types[-2:] != ENDING or types.count("session.closed") > 1:
        yield "invalid", "the last two entries"
    else:
        root = tree_root(it.hashes[:-1])
        said = [it.bodies[-1].get(each) for each in ("note", "root", "size")]
        if checkpoint(it.seal) != (it.name, size, root):
            yield "invalid", "the seal is not of these entries"
        if said != [it.parts["seal"], root.hex(), size]:
            yield "invalid", "the seal entry says something else"
        dsse = bytes.fromhex(str(it.bodies[-1].get("dsse", "")))
        if dsse and not signed((statement(it, size, root), [(*it.key[:2], dsse)]), it.key):
            yield "invalid", "the statement"


def intents(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    waiting, end = dict[str, str](), it.bodies[0].get("expires_at")
    for seq, (body, leaf) in enumerate(zip(it.bodies, it.hashes, strict=True)):
        wrong, kind = False, body["type"]
        if kind == "action.intent":
            waiting[leaf.hex()], wrong = body["id"], isinstance(end, int) and body["ts"] > end
        elif kind == "action.outcome":
            wrong = waiting.pop(str(body.get("intent")), "") != body["id"]
        if wrong:
            yield "invalid", f"entry {seq} is too late, or the outcome of nothing"
    if waiting:
        yield "incomplete", "an intent has no outcome"


def inclusion(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    if it.head is None or "spawn_proof" not in it.parts:
        yield "incomplete", "no head, or no proof of the spawn entry"
        return
    if checkpoint(it.head)[0] != it.log_name or not any(signed(it.head, each) for each in it.logs):
        yield "invalid", "the head is not signed by the log"
    due, span = 1 + (it.bodies[-1]["type"] == "session.seal"), len(it.notes) - 1
    texts = [it.parts[each] for each in ("spawn_proof", "seal_proof") if each in it.parts]
    ends = zip((it.hashes[0], it.hashes[-1]), texts, strict=False)
    places = [proved_index(leaf, text, it.parts["head"]) for leaf, text in ends]
    if -1 in places or len(places) > due or places[-1] - places[0] < span * (len(places) - 1):
        yield "invalid", "a proof"
    if len(places) < due:
        yield "incomplete", "no proof of the seal entry"


def key(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    if not it.given:
        yield "incomplete", "nobody gave a key"
    elif any(each[0] == it.name and each != it.key for each in it.given):
        yield "invalid", "the key given for this session is another one"
    elif not any(each[0] in {"", it.name} and each[2] == it.key[2] for each in it.given):
        yield from inclusion(it) if it.logs[0] in it.given else [("invalid", "another key")]


def content(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    for seq, body in enumerate(it.bodies):
        rule = it.schemas.get(body["type"])
        if rule is None or body["v"] != 1 or set(body) - set(rule["properties"]):
            yield "incomplete", f"entry {seq} is of a later version"
        elif not fits(body, rule):
            yield "invalid", f"entry {seq}"


def disclosure(it: SimpleNamespace) -> Iterator[tuple[str, str]]:
    if "disclosures" not in it.parts:
        yield "absent", "nothing is disclosed"
    for each in it.parts.get("disclosures", ()):
        said = it.bodies[each["seq"]].get(each["field"]) if each["seq"] < len(it.bodies) else ""
        message = b"ghost-commit-v1\0" + each["field"].encode() + b"\0" + unbase64(each["data"])
        if said != hmac.digest(unbase64(each["salt"], 32), message, "sha256").hex():
            yield "invalid", f"entry {each['seq']}"


AXES = (signatures, chain, complete, intents, inclusion, key, content, disclosure)


def judge(data: bytes, keys: list[str], schemas: Mapping[str, Any]) -> tuple[int, dict[str, str]]:
    """Return the exit code, and the state of each axis or why it was refused."""
    try:
        it = read(data, keys, schemas)
        found = {axis.__name__: [state for state, _ in axis(it)] for axis in AXES}
    except (ValueError, RecursionError) as refused:
        return 8 if str(refused) == "later" else 7, {"refused": str(refused)}
    states = {name: min(each, key=STATES.index, default="valid") for name, each in found.items()}
    doubt = "incomplete" in states.values() or "absent" in [*states.values()][:6]
    return 7 if "invalid" in states.values() else 8 if doubt else 0, states


if __name__ == "__main__":
    schemas = {path.stem: json.loads(path.read_bytes()) for path in Path(sys.argv[1]).iterdir()}
    code, states = judge(Path(sys.argv[2]).read_bytes(), sys.argv[3:], schemas)
    sys.stdout.write("".join(f"{name}: {state}\n" for name, state in states.items()))
    sys.exit(code)
