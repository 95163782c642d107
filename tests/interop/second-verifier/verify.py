"""A second verifier of receipts and evidence packs, written from docs/formats.md and docs/evidence.md and nothing else.

Python's standard library only: signatures are checked by the formulas of RFC 8032 and FIPS 186-5 themselves.

usage: verify.py BUNDLE.json|PACK.zip LOG.vkey AGENT.pub... [+WITNESS.vkey...]
Of a pack it does not check index.html, nor that the runs are all that the schedules name. Prints a line, and ends with 0 (true), 1 (false) or 2 (cannot tell).
"""
import base64
import datetime
import functools
import hashlib
import json
import re
import sys
import zipfile


class False_(Exception):
    pass


class CannotTell(Exception):
    pass


class NotSigned(False_):
    pass


class Stranger(CannotTell):
    """Signed with a key that is not among those that count."""


def demand(held, what):
    if not held:
        raise False_(what)


def sha256(data):
    return hashlib.sha256(data).digest()


# ---------------------------------------------------------------- text

def unbase64(text, url=False):
    demand(isinstance(text, str), "base64 is not a string")
    plain = text.replace("-", "+").replace("_", "/") if url else text
    try:
        data = base64.b64decode(plain, validate=True)
    except ValueError as error:
        raise False_("malformed base64") from error
    demand(base64.b64encode(data).decode() == plain, "base64 in another spelling")
    return data


def unhex(text):
    demand(isinstance(text, str) and re.fullmatch(r"([0-9a-f]{2})*", text), "malformed hex")
    return bytes.fromhex(text)


def once(pairs):
    demand(len({name for name, _ in pairs}) == len(pairs), "a member twice")
    return dict(pairs)


def constant(name):
    raise False_(f"{name} is no JSON")


def parse(data):
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise False_("malformed JSON") from error
    walk(value, 1)
    return value


def walk(value, level):
    demand(level <= 65, "more than 64 levels")
    if isinstance(value, str):
        demand(not any(0xD800 <= ord(c) <= 0xDFFF for c in value), "a lone surrogate")
    elif isinstance(value, list):
        for one in value:
            walk(one, level + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            walk(name, level + 1)
            walk(one, level + 1)


def canonical(value):
    """RFC 8785 of strings, booleans, null and integers; of other numbers Python's shortest form in ECMAScript's spelling."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def number(value):
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    match = re.fullmatch(r"(-?)(\d)(?:\.(\d+))?e([+-])0*(\d+)", text)
    if match is None:
        return text
    sign, first, rest, way, power = match.groups()
    if way == "-" and int(power) <= 6:
        return sign + "0." + "0" * (int(power) - 1) + first + (rest or "")
    return sign + first + ("." + rest if rest else "") + "e" + way + power


# ---------------------------------------------------------------- keys and signatures

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def ed_add(p, q):
    x1, y1, x2, y2 = *p, *q
    t = D * x1 * x2 * y1 * y2
    return ((x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P)


def ed_mul(n, p):
    q = (0, 1)
    while n:
        if n & 1:
            q = ed_add(q, p)
        p = ed_add(p, p)
        n >>= 1
    return q


@functools.lru_cache(maxsize=None)
def ed_point(data, what):
    y = int.from_bytes(data, "little") & (2**255 - 1)
    sign = data[31] >> 7
    demand(y < P, f"{what} is not in reduced form")
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    demand((x * x - square) % P == 0, f"{what} is not on the curve")
    demand(x or not sign, f"{what} is not in reduced form")
    point = (P - x if (x & 1) != sign else x, y)
    demand(ed_mul(8, point) != (0, 1), f"{what} is of small order")
    return point


BASE = ed_point(bytes([0x58]) + bytes([0x66]) * 31, "the base point")


@functools.lru_cache(maxsize=None)
def ed25519(public, message, signature):
    demand(len(signature) == 64, "the signature has not 64 bytes")
    a = ed_point(public, "the key")
    r = ed_point(signature[:32], "R")
    s = int.from_bytes(signature[32:], "little")
    demand(s < L, "S is not reduced")
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    demand(ed_mul(s, BASE) == ed_add(r, ed_mul(k, a)), "the signature does not hold")


P256 = 2**256 - 2**224 + 2**192 + 2**96 - 1
N256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B256 = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G256 = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296, 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def ec_add(p, q):
    if p is None or q is None:
        return q if p is None else p
    if p[0] == q[0]:
        if (p[1] + q[1]) % P256 == 0:
            return None
        slope = 3 * (p[0] * p[0] - 1) * pow(2 * p[1], -1, P256)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, P256)
    x = (slope * slope - p[0] - q[0]) % P256
    return (x, (slope * (p[0] - x) - p[1]) % P256)


def ec_mul(n, p):
    q = None
    while n:
        if n & 1:
            q = ec_add(q, p)
        p = ec_add(p, p)
        n >>= 1
    return q


def der_integer(data, at):
    demand(at + 2 <= len(data) and data[at] == 2 and 0 < data[at + 1] < 128, "malformed DER")
    end = at + 2 + data[at + 1]
    body = data[at + 2:end]
    demand(end <= len(data) and body[0] < 128 and (len(body) == 1 or body[0] or body[1] > 127), "DER is not the shortest form")
    return int.from_bytes(body, "big"), end


SPKI_ED25519 = bytes.fromhex("302a300506032b6570032100")
SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")


@functools.lru_cache(maxsize=None)
def p256(spki, message, signature):
    point = p256_point(spki)
    demand(len(signature) > 2 and signature[0] == 0x30 and signature[1] == len(signature) - 2 < 128, "malformed DER")
    r, at = der_integer(signature, 2)
    s, at = der_integer(signature, at)
    demand(at == len(signature) and 0 < r < N256 and 0 < s < N256, "malformed DER")
    inverse = pow(s, -1, N256)
    e = int.from_bytes(sha256(message), "big")
    sum_ = ec_add(ec_mul(e * inverse % N256, G256), ec_mul(r * inverse % N256, point))
    demand(sum_ is not None and sum_[0] % N256 == r, "the signature does not hold")


def p256_point(spki):
    x, y = int.from_bytes(spki[27:59], "big"), int.from_bytes(spki[59:], "big")
    demand(x < P256 and y < P256 and (y * y - x * x * x + 3 * x - B256) % P256 == 0, "the key is not on the curve")
    return (x, y)


def key(data):
    """Takes the wire form's bytes; gives (check, fingerprint)."""
    def wire(*parts):
        return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    if len(data) == 32:
        ed_point(data, "the key")
        ssh, check = wire(b"ssh-ed25519", data), ed25519
    else:
        demand(len(data) == 91 and data.startswith(SPKI_P256), "neither an Ed25519 nor a P-256 key")
        p256_point(data)
        ssh, check = wire(b"ecdsa-sha2-nistp256", b"nistp256", data[26:]), p256
    fingerprint = "SHA256:" + base64.b64encode(sha256(ssh)).decode().rstrip("=")
    return (lambda message, signature: check(data, message, signature)), fingerprint


def key_file(text):
    text = text.strip()
    if text.startswith("-----BEGIN PUBLIC KEY-----"):
        spki = base64.b64decode("".join(text.splitlines()[1:-1]))
        return spki[12:] if spki.startswith(SPKI_ED25519) else spki
    if text.startswith("ssh-ed25519 "):
        return base64.b64decode(text.split()[1])[-32:]
    if text.startswith("ecdsa-sha2-nistp256 "):
        return SPKI_P256[:-1] + base64.b64decode(text.split()[1])[-65:]
    return unbase64(text)


# ---------------------------------------------------------------- notes

def verifier_key(text):
    name, id_, encoded = text.strip().split("+", 2)
    material = unbase64(encoded)
    demand(len(material) == 33 and sha256(name.encode() + b"\n" + material)[:4].hex() == id_, "malformed verifier key")
    ed_point(material[1:], "the verifier key")
    return name, bytes.fromhex(id_), material[0], material[1:]


def open_note(data, vkey):
    """The text that `vkey` signed, and for a cosignature its time."""
    name, id_, kind, public = vkey
    text, separator, lines = data.rpartition(b"\n\n")
    demand(separator and lines.endswith(b"\n"), "malformed note")
    text += b"\n"
    for line in lines[:-1].split(b"\n"):
        match = re.fullmatch("— ([^ +]+) ([^ ]+)", line.decode("utf-8"))
        demand(match, "malformed signature line")
        signature = unbase64(match[2])
        if match[1] != name or signature[:4] != id_:
            continue
        if kind == 1:
            ed25519(public, text, signature[4:])
            return text.decode("utf-8"), None
        time = int.from_bytes(signature[4:12], "big")
        ed25519(public, b"cosignature/v1\ntime %d\n" % time + text, signature[12:])
        return text.decode("utf-8"), time
    raise NotSigned(f"the note is not signed by {name}")


def checkpoint(note, vkey, origin=None):
    text, _ = open_note(note.encode() if isinstance(note, str) else note, vkey)
    lines = text.split("\n")
    demand(len(lines) == 4 and lines[0] == (origin or vkey[0]), "not a checkpoint of this log")
    demand(re.fullmatch(r"0|[1-9]\d*", lines[1]), "malformed tree size")
    root = unbase64(lines[2])
    demand(len(root) == 32, "malformed root")
    return lines[0], int(lines[1]), root


# ---------------------------------------------------------------- trees

def leaf_hash(data):
    return sha256(b"\0" + data)


def node(left, right):
    return sha256(b"\1" + left + right)


def included(proof, leaf, size, root):
    """RFC 9162 section 2.1.3.2"""
    index, hashes = proof["log_index"], [unhex(one) for one in proof["hashes"]]
    demand(proof["tree_size"] == size and type(index) is int and 0 <= index < size, "the proof is for another tree")
    fn, sn, r = index, size - 1, leaf_hash(leaf)
    for p in hashes:
        demand(sn, "the proof is too long")
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    demand(sn == 0 and r == root, "the proof does not lead to the root")


def consistent(from_, old, to, new, hashes):
    """RFC 9162 section 2.1.4.2"""
    if from_ == to:
        return demand(not hashes and old == new, "the log contradicts itself")
    demand(0 < from_ < to, "malformed consistency proof")
    path = ([old] if from_ & (from_ - 1) == 0 else []) + hashes
    demand(path, "the consistency proof is too short")
    fn, sn = from_ - 1, to - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        demand(sn, "the consistency proof is too long")
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    demand(sn == 0 and fr == old and sr == new, "the log contradicts itself")


def root_of(left_edge, from_, leaves):
    """The root of a tree from the perfect subtrees before `from_`, the largest first, and the leaves after them."""
    sizes = [1 << bit for bit in reversed(range(from_.bit_length())) if from_ >> bit & 1]
    demand(len(sizes) == len(left_edge), "the left edge is not that of the range")
    stack = list(zip(sizes, left_edge))
    for leaf in leaves:
        one = (1, leaf_hash(leaf))
        while stack and stack[-1][0] == one[0]:
            one = (2 * one[0], node(stack.pop()[1], one[1]))
        stack.append(one)
    root = None
    while stack:
        root = stack.pop()[1] if root is None else node(stack.pop()[1], root)
    return root if root is not None else sha256(b"")


# ---------------------------------------------------------------- receipts

def opened(envelope, keys):
    """The payload of an envelope that one of these keys signed, and that key's fingerprint."""
    demand(len(envelope["signatures"]) == 1, "not an envelope")
    signature = envelope["signatures"][0]
    payload, type_ = unbase64(envelope["payload"], url=True), envelope["payloadType"]
    if type_ != "application/vnd.in-toto+json":
        raise CannotTell("another payload type")
    if signature["keyid"] not in keys:
        raise Stranger("signed by " + signature["keyid"])
    pae = b"DSSEv1 %d %s %d %s" % (len(type_), type_.encode(), len(payload), payload)
    keys[signature["keyid"]](pae, unbase64(signature["sig"], url=True))
    return payload, signature["keyid"]


def same_signature(leaf, envelope):
    demand(unbase64(leaf["signature"]) == unbase64(envelope["signatures"][0]["sig"], url=True), "the leaf is about another signature")


def check_statement(statement):
    demand(statement["_type"] == "https://in-toto.io/Statement/v1", "not a statement")
    predicate, kind = statement["predicate"], statement["predicateType"]
    if kind not in ("https://attestore.dev/backup/v1", "https://attestore.dev/restore-test/v1"):
        raise CannotTell("a predicate of another version: " + kind)
    demand(len(statement["subject"]) == 1 and statement["subject"][0]["name"] == predicate["backup_id"], "the subject is not the backup")
    digest = statement["subject"][0]["digest"]
    if "sha256" not in digest:
        raise CannotTell("a digest of another kind")
    demand(len(unhex(digest["sha256"])) == 32, "malformed digest")
    demand(predicate["started_at"] <= predicate["finished_at"], "it finished before it started")
    if kind.endswith("/backup/v1"):
        return "backup"
    if predicate["result"] == "passed":
        demand(predicate["checks"] and all(one["result"] == "passed" for one in predicate["checks"]), "a pass that is none")
    return "restore_test"


def known_leaf(leaf):
    if type(leaf.get("v")) is int and leaf["v"] > 1:
        raise CannotTell("a leaf of another version")
    named = {"v", "kind", "org_id", "id", "actor_id", "recorded_at", "body_sha256"}
    demand(leaf["v"] == 1 and set(leaf) - {"signature"} == named, "not a leaf")
    return leaf


def check_receipt(bundle, vkey, keys):
    leaf = known_leaf(bundle["leaf"])
    payload, keyid = opened(bundle["envelope"], keys)
    statement = parse(payload)
    kind, predicate = check_statement(statement), statement["predicate"]
    demand(key(unbase64(bundle["public_key"]))[1] == keyid, "the bundle has another key")
    demand(leaf["kind"] == kind and leaf["org_id"] == predicate["org_id"] and leaf["actor_id"] == predicate["agent_id"], "the leaf is of another receipt")
    demand(leaf["body_sha256"] == sha256(payload).hex(), "the leaf is about another payload")
    same_signature(leaf, bundle["envelope"])
    return check_leaf(bundle, vkey), statement


def check_leaf(bundle, vkey):
    origin, size, root = checkpoint(bundle["checkpoint"], vkey)
    leaf = canonical(known_leaf(bundle["leaf"])).encode()
    demand(bundle["log"]["origin"] == vkey[0] and verifier_key(bundle["log"]["verifier_key"]) == vkey, "it names another log")
    demand(origin.endswith("/" + bundle["leaf"]["org_id"]), "the log is of another organisation")
    demand(len(leaf) <= 65535, "the leaf is too long")
    included(bundle["inclusion_proof"], leaf, size, root)
    return bundle["inclusion_proof"]["log_index"], size, root, leaf


EVENT = ("kind", "source_id", "backup_id", "command_id", "occurred_at", "detail")


def check_event(bundle, keys):
    """Of a signed event its statement and the fingerprint of the key; of another one None."""
    leaf, event = known_leaf(bundle["leaf"]), bundle["event"]
    demand(leaf["kind"] == event["kind"], "the leaf is of another event")
    if "envelope" not in bundle:
        demand("signature" not in leaf, "the envelope of a signed event is not here")
        demand(leaf["body_sha256"] == sha256(canonical(event).encode()).hex(), "the leaf is about another event")
        return None
    payload, keyid = opened(bundle["envelope"], keys)
    statement = parse(payload)
    demand(statement["_type"] == "https://in-toto.io/Statement/v1", "not a statement")
    if statement["predicateType"] != "https://attestore.dev/event/v1":
        raise CannotTell("an event of another version")
    predicate = statement["predicate"]
    signed = canonical({name: predicate[name] for name in EVENT if name in predicate})
    demand(signed == canonical({name: event[name] for name in EVENT if name in event}), "another event was signed")
    demand(statement["subject"][0]["digest"]["sha256"] == sha256(signed.encode()).hex(), "the subject is not the event")
    demand(leaf["body_sha256"] == sha256(payload).hex() and leaf["org_id"] == predicate["org_id"] and leaf["actor_id"] == predicate["agent_id"], "the leaf is of another event")
    same_signature(leaf, bundle["envelope"])
    return predicate, keyid


# ---------------------------------------------------------------- packs: files and the log

def tile_path(number_, width):
    parts = [f"{number_ % 1000:03d}"]
    while number_ >= 1000:
        number_ //= 1000
        parts.insert(0, f"x{number_ % 1000:03d}")
    return "log/tile/entries/" + "/".join(parts) + ("" if width == 256 else f".p/{width}")


def entries(data, width):
    at, found = 0, []
    for _ in range(width):
        length = int.from_bytes(data[at:at + 2], "big")
        demand(at + 2 + length <= len(data), "a tile of entries is cut off")
        found.append(data[at + 2:at + 2 + length])
        at += 2 + length
    demand(at == len(data), "a tile of entries is too long")
    return found


def files_of(path):
    pack = zipfile.ZipFile(path)
    names = [name for name in pack.namelist() if not re.search(r"^__MACOSX/|(^|/)(\.DS_Store|\._[^/]*)$", name)]
    top = names[0].partition("/")[0] + "/"
    if not all(name.startswith(top) for name in names):
        top = ""
    names = [name for name in names if not name.endswith("/")]
    demand(len({name.lower() for name in names}) == len(names), "a file twice")
    return {name[len(top):]: pack.read(name) for name in names}


def known(value, what):
    if type(value.get("v")) is int and value["v"] > 1:
        raise CannotTell(what + " is of another version")
    demand(value["v"] == 1, what + " has no version")
    return value


class Pack:
    """The files, which the log's key signed, and the log that all of them are about."""

    def __init__(self, path, vkey):
        self.files, self.vkey = files_of(path), vkey
        manifest = self.manifest = parse(self.files["manifest.json"])
        if manifest["format"] != "https://attestore.dev/evidence/v1":
            raise CannotTell("a pack of another version: " + manifest["format"])
        demand(verifier_key(self.files["keys/log.vkey"].decode()) == vkey, "the log's key is another")
        signed, _ = open_note(self.files["manifest.note"], vkey)
        demand(signed == f"{manifest['format']}\n{vkey[0]}\n{sha256(self.files['manifest.json']).hex()}\n", "the manifest is not what was signed")
        listed = {one["path"]: one for one in manifest["files"]}
        demand(set(listed) | {"manifest.json", "manifest.note"} == set(self.files), "the files are not those of the manifest")
        for name, one in listed.items():
            demand(len(self.files[name]) == one["size_bytes"] and sha256(self.files[name]).hex() == one["sha256"], f"{name} was changed")
        origin, self.size, self.root = checkpoint(self.files["log/checkpoint"], vkey)
        said = manifest["log"]
        demand((said["origin"], said["tree_size"], said["root_hash"]) == (origin, self.size, self.root.hex()), "the manifest names another head")
        demand(origin.endswith("/" + manifest["org_id"]), "the log is of another organisation")
        self.from_, self.to = manifest["period"]["from"], manifest["period"]["to"]
        self.check_range()

    def check_range(self):
        range_ = known(parse(self.files["log/range.json"]), "the range")
        self.until, self.first, to = range_["bodies_until"], range_["from_index"], range_["to_index"]
        demand(self.first % 256 == 0 and self.first <= to <= self.size, "not a range of the log")
        self.leaves = []
        tiles = set()
        for number_ in range(self.first // 256, -(-to // 256)):
            width = min(256, to - number_ * 256)
            tiles.add(tile_path(number_, width))
            self.leaves += entries(self.files[tile_path(number_, width)], width)
        demand(tiles == {name for name in self.files if name.startswith("log/tile/")}, "another tile")
        at_to = root_of([unhex(one) for one in range_["left_edge"]], self.first, self.leaves)
        if to:
            consistent(to, at_to, self.size, self.root, [unhex(one) for one in range_["to_head"]])
        demand(self.from_ < self.to <= self.manifest["exported_at"], "the period is empty, or was not over")
        demand(self.to <= self.until <= self.manifest["exported_at"], "bodies of the period are missing")
        start, end = range_["start"], range_["end"]
        self.ends_with_export = end is None
        demand(start is not None or self.first == 0, "nothing shows what the log was before the period")
        demand(end is not None or to == self.size, "nothing shows what the log was after the period")
        if start is not None:
            demand(self.first <= start["tree_size"] and self.time_of(start) <= seconds(self.from_), "the range begins too late")
        if end is not None:
            demand(end["tree_size"] <= to and self.time_of(end) + 1 > seconds(self.until), "the range ends too early")

    def time_of(self, timed):
        """When the time's key saw that checkpoint, in seconds, if the pack's own extends it."""
        _, size, root = checkpoint(timed["checkpoint"], self.vkey)
        demand(size == timed["tree_size"], "a checkpoint of another size")
        if size:
            consistent(size, root, self.size, self.root, [unhex(one) for one in timed["hashes"]])
        _, time = open_note(timed["checkpoint"].encode(), verifier_key(self.files["keys/time.vkey"].decode()))
        return time

    def bundles(self, folder):
        for name in sorted(self.files):
            if name.startswith(folder + "/"):
                bundle = parse(self.files[name])
                index, size, root, leaf = check_leaf(bundle, self.vkey)
                demand((size, root) == (self.size, self.root), f"{name} leads to another head")
                demand(name == f"{folder}/{bundle['leaf']['id']}.json", f"{name} is {bundle['leaf']['id']}")
                place = index - self.first
                demand(not 0 <= place < len(self.leaves) or self.leaves[place] == leaf, f"{name} is not the leaf at its place")
                yield bundle, index

    def is_in_period(self, leaf):
        return self.from_ <= leaf["recorded_at"] < self.to


def seconds(moment):
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


# ---------------------------------------------------------------- packs: who signed

def spki_of(wire):
    return SPKI_ED25519 + wire if len(wire) == 32 else wire


def check_agents(pack, events, given):
    """By agent the keys that count: (fingerprint -> check), until when each, and from which leaf on."""
    agents = {}
    told = {kind: {} for kind in ("agent_attached", "agent_revoked", "agent_key_rotated")}
    for bundle, index in events.values():
        if bundle["leaf"]["kind"] in told:
            told[bundle["leaf"]["kind"]][bundle["leaf"]["id"]] = (bundle["event"], index)
    named = {kind: set() for kind in told}
    for agent in known(parse(pack.files["keys/agents.json"]), "the agents' keys")["agents"]:
        chain = [*agent["earlier_keys"], agent]
        wires = [unbase64(one["public_key"]) for one in chain]
        checks = [key(wire) for wire in wires]
        for n, (one, wire, (_, fingerprint)) in enumerate(zip(chain, wires, checks)):
            demand(one["key_fingerprint"] == fingerprint, "a fingerprint is not that of its key")
            path = f"keys/{agent['id']}.pub" if one is agent else f"keys/{agent['id']}.{n + 1}.pub"
            demand(key_file(pack.files[path].decode()) == wire, f"{path} is another key")
        attached, revoked = agent["attached_event_id"], agent["revoked_event_id"]
        begin, end = -1, pack.size
        for event_id, kind, moment, fingerprint in (
            (attached, "agent_attached", agent["valid_from"], checks[0][1]),
            (revoked, "agent_revoked", agent["valid_until"], checks[-1][1]),
        ):
            if event_id is None:
                demand(kind == "agent_attached" or moment is None, "nothing tells that it was revoked")
                continue
            event, index = told[kind][event_id]
            detail = event["detail"]
            demand((detail["agent_id"], detail["key_fingerprint"], event["occurred_at"]) == (agent["id"], fingerprint, moment), f"{event_id} tells otherwise")
            named[kind].add(event_id)
            begin, end = (index, end) if kind == "agent_attached" else (begin, index)
        since, from_leaf = agent["valid_from"], [begin]
        for n, one in enumerate(agent["earlier_keys"]):
            demand(one["valid_from"] == since, "its keys' times have a gap")
            event, index = told["agent_key_rotated"][one["rotated_event_id"]]
            check_rotation(event["detail"], pack, agent["id"], one["valid_until"], checks[n:n + 2], wires[n:n + 2])
            named["agent_key_rotated"].add(one["rotated_event_id"])
            from_leaf.append(index)
            since = one["valid_until"]
        is_given = any(fingerprint in given for _, fingerprint in checks)
        agents[agent["id"]] = {
            "is_given": is_given,
            "is_bound": attached is not None,
            "keys": {fingerprint: check for check, fingerprint in checks},
            "until": {fingerprint: one.get("valid_until") for (_, fingerprint), one in zip(checks[:-1], chain)},
            "from_leaf": {fingerprint: index for (_, fingerprint), index in zip(checks, from_leaf)},
            "end": end,
        }
    for kind, ids in named.items():
        demand(set(told[kind]) == ids, f"agents.json does not tell of every {kind}")
    missing = set(given) - {fingerprint for agent in agents.values() for fingerprint in agent["keys"]}
    demand(not missing, f"no agent has the key {missing}")
    return agents


def check_rotation(detail, pack, agent_id, rotated_at, checks, wires):
    (old, old_name), (new, new_name) = checks
    try:
        payload, _ = opened(detail["by_old"], {old_name: old})
        demand(opened(detail["by_new"], {new_name: new})[0] == payload, "the two keys signed different statements")
    except Stranger as error:
        raise False_("the rotation is signed by another key") from error
    statement = parse(payload)
    if statement["predicateType"] != "https://attestore.dev/key-rotation/v1" or statement["predicate"]["key"] != "signing":
        raise CannotTell("a rotation of another version")
    said = statement["predicate"]
    demand((said["org_id"], said["agent_id"], said["rotated_at"]) == (pack.manifest["org_id"], agent_id, rotated_at), "the rotation is another")
    demand([unbase64(said["before"]), unbase64(said["after"])] == [spki_of(wire) for wire in wires], "the rotation is of other keys")
    demand(statement["subject"][0]["digest"]["sha256"] == sha256(spki_of(wires[1])).hex(), "the rotation's subject is another key")


def check_signer(agents, agent_id, keyid, index, moment):
    agent = agents[agent_id]
    demand(agent["from_leaf"][keyid] <= index <= agent["end"], "the key did not count then")
    until = agent["until"].get(keyid)
    demand(until is None or moment <= until, "the key was replaced before")
    return None if agent["is_given"] else f"signed by {keyid}, which was not given"


# ---------------------------------------------------------------- packs: what is told

def check_runs(pack, events, receipts):
    runs = []
    for name in sorted(name for name in pack.files if name.startswith("runs/")):
        for line in pack.files[name].decode().splitlines():
            runs.append(parse(line.encode()))
    keys = [(run["scheduled_at"], run["source_id"], run["kind"]) for run in runs]
    demand(keys == sorted(set(keys)), "runs are not sorted, or one is there twice")
    removed = {bundle["event"]["source_id"] for bundle, _ in events.values() if bundle["leaf"]["kind"] == "source_removed"}
    for run in runs:
        if run["status"] not in ("passed", "failed", "done", "missed", "waiting", "withdrawn"):
            raise CannotTell("a run is " + run["status"])
        demand(pack.from_ <= run["scheduled_at"] < pack.to, "a run is not of the period")
        decides = sorted(
            (leaf["recorded_at"], leaf["id"], statement["predicate"].get("result", "done"))
            for leaf, statement in receipts
            if leaf["kind"] == run["kind"] and statement["predicate"]["source_id"] == run["source_id"]
            and run["scheduled_at"] <= leaf["recorded_at"] <= run["deadline_at"]
            and seconds(statement["predicate"]["finished_at"]) >= seconds(run["scheduled_at"]) - 300
        )
        if decides:
            demand((run["receipt_id"], run["status"], run["event_id"]) == (decides[0][1], decides[0][2], None), "a run is decided otherwise")
            continue
        demand(run["receipt_id"] is None and run["status"] not in ("passed", "failed"), "a run has no receipt")
        demand(run["status"] != "done" or run["kind"] == "backup", "a run has no receipt")
        demand(run["status"] != "withdrawn" or run["source_id"] in removed, "nothing tells that the source was removed")
        if run["event_id"] is not None:
            event = events[run["event_id"]][0]["event"]
            demand(
                (event["kind"], event["source_id"], event["detail"]["scheduled_at"], event["detail"]["deadline_at"], run["status"])
                == (run["kind"] + "_missed", run["source_id"], run["scheduled_at"], run["deadline_at"], "missed"),
                "a missed run is told otherwise",
            )
    for bundle, _ in events.values():
        event = bundle["event"]
        if event["kind"] in ("backup_missed", "restore_test_missed") and pack.from_ <= event["detail"]["scheduled_at"] < pack.to:
            key_ = (event["detail"]["scheduled_at"], event["source_id"], event["kind"][:-len("_missed")])
            demand(key_ in keys, "a missed run that the log tells of is left out")
    return runs


def check_policy(pack, events, receipts, runs):
    policy = known(parse(pack.files["policy.json"]), "the policy")
    sources = {one["id"]: one for one in policy["sources"]}
    demand(policy["org"]["id"] == pack.manifest["org_id"] and len(sources) == len(policy["sources"]), "the policy is of another organisation")
    of = {statement["predicate"]["source_id"] for _, statement in receipts} | {run["source_id"] for run in runs}
    of |= {bundle["event"]["source_id"] for bundle, _ in events.values() if "source_id" in bundle["event"]}
    demand(of <= set(sources), "the policy leaves out a source")
    newest = {}
    removed = set()
    leaves = [parse(data) for data in pack.leaves]
    is_changed_since = any(leaf.get("kind") == "source_configured" and leaf["recorded_at"] >= pack.until for leaf in leaves)
    for bundle, _ in sorted(events.values(), key=lambda one: one[1]):
        event = bundle["event"]
        if event["kind"] == "source_configured" and bundle["leaf"]["recorded_at"] < pack.until:
            newest[event["source_id"]] = event["detail"]["after"]
        if event["kind"] == "source_removed":
            removed.add((event["source_id"], event["occurred_at"]))
    for id_, source in sources.items():
        for name in ("schedule", "retention", "objectives") if pack.ends_with_export and not is_changed_since and id_ in newest else ():
            demand(canonical(source[name]) == canonical(newest[id_][name]), f"{name} is another than the log tells of")
        gone = source["removed_at"]
        demand(gone is None or seconds(gone) >= seconds(pack.until) - 600 or (id_, gone) in removed, "nothing tells that a source was removed")


def check_summary(pack, events, receipts, runs):
    summary = known(parse(pack.files["summary.json"]), "the summary")
    inside = [(leaf["kind"], statement["predicate"].get("result")) for leaf, statement in receipts if pack.is_in_period(leaf)]
    told = [bundle for bundle, _ in events.values() if pack.is_in_period(bundle["leaf"]) and is_in_range(pack, bundle)]
    def count(kind):
        of = [run["status"] for run in runs if run["kind"] == kind]
        numbers = {status: of.count(status) for status in ("passed", "failed", "missed", "waiting", "withdrawn")}
        return {**numbers, "total": len(of), "passed": numbers["passed"] + of.count("done")}
    expected = {
        "receipts": len(inside),
        "events": len(told),
        "backups": sum(kind == "backup" for kind, _ in inside),
        "restore_tests": {result: sum(one == result for _, one in inside) for result in ("passed", "failed")},
        "scheduled_restore_tests": count("restore_test"),
        "scheduled_backups": count("backup"),
    }
    for name, value in expected.items():
        demand(value.items() <= summary["totals"][name].items() if isinstance(value, dict) else value == summary["totals"][name], f"{name} counted otherwise")
    demand(summary["period"] == pack.manifest["period"] and summary["org"]["id"] == pack.manifest["org_id"], "the summary is of another pack")


def is_in_range(pack, bundle):
    return 0 <= bundle["inclusion_proof"]["log_index"] - pack.first < len(pack.leaves)


def check_pack(path, vkey, given, witnesses=()):
    pack = Pack(path, vkey)
    open_ = []
    events = {bundle["leaf"]["id"]: (bundle, index) for bundle, index in pack.bundles("events")}
    agents = check_agents(pack, events, given)
    open_ += [f"nothing tells whose key {id_} has" for id_, one in agents.items() if not one["is_bound"] and not one["is_given"]]
    receipts, links, signed_since, backups = [], [], {}, {}
    for bundle, index in pack.bundles("receipts"):
        agent_id = bundle["leaf"]["actor_id"]
        demand(agent_id in agents, "a receipt of an agent that is not named")
        try:
            _, statement = check_receipt(bundle, vkey, agents[agent_id]["keys"])
        except CannotTell as error:
            demand(not isinstance(error, Stranger), "signed with a key that is not the agent's")
            open_.append(str(error))
            continue
        keyid, predicate = bundle["envelope"]["signatures"][0]["keyid"], statement["predicate"]
        open_.append(check_signer(agents, agent_id, keyid, index, predicate["finished_at"]))
        told = (statement["subject"][0]["digest"]["sha256"], predicate["source_id"])
        demand(backups.setdefault(predicate["backup_id"], told) == told, f"{predicate['backup_id']} is two files or of two sources")
        demand(all(leaf["body_sha256"] != bundle["leaf"]["body_sha256"] for leaf, _ in receipts), "a receipt is in the log twice")
        receipts.append((bundle["leaf"], statement))
        links.append((index, bundle["leaf"], predicate["previous_receipt_sha256"]))
    for bundle, index in events.values():
        agent_id = bundle["leaf"]["actor_id"]
        try:
            signed = check_event(bundle, agents.get(agent_id, {"keys": {}})["keys"])
        except CannotTell as error:
            demand(not isinstance(error, Stranger), "signed with a key that is not the agent's")
            open_.append(str(error))
            continue
        if signed is not None:
            predicate, keyid = signed
            open_.append(check_signer(agents, agent_id, keyid, index, predicate["occurred_at"]))
            links.append((index, bundle["leaf"], predicate["previous_receipt_sha256"]))
            signed_since[agent_id] = min(index, signed_since.get(agent_id, index))
    for bundle, index in events.values():
        if "envelope" not in bundle and bundle["leaf"]["kind"] in ("backup_failed", "restore_failed", "attestation_failed"):
            if index > signed_since.get(bundle["leaf"]["actor_id"], pack.size):
                open_.append(f"{bundle['leaf']['id']} is not signed")

    present = {leaf["id"] for leaf, _ in receipts} | set(events)
    before_range = list(pack.bundles("predecessors"))
    demand(all(index < pack.first for _, index in before_range), "a predecessor is not from before the pack's leaves")
    bodies = {leaf["body_sha256"] for _, leaf, _ in links} | {bundle["leaf"]["body_sha256"] for bundle, _ in before_range}
    for data in pack.leaves:
        try:
            leaf = known_leaf(parse(data))
        except CannotTell as error:
            open_.append(str(error))
            continue
        demand(leaf["org_id"] == pack.manifest["org_id"] and canonical(leaf).encode() == data, "a leaf is malformed")
        if "signature" in leaf and leaf["recorded_at"] < pack.until:
            bodies.add(leaf["body_sha256"])
        if pack.from_ <= leaf["recorded_at"] < pack.until and not any(open_):
            demand(leaf["id"] in present, f"{leaf['id']} was left out")
    if not any(open_):
        for index, leaf, before in links:
            if leaf["recorded_at"] >= pack.from_ and before is not None and before not in bodies:
                open_.append(f"{leaf['id']} follows on what is not in the log")
        inside = [one for one in receipts if pack.from_ <= one[0]["recorded_at"] < pack.until]
        runs = check_runs(pack, events, inside)
        check_policy(pack, events, receipts, runs)
        check_summary(pack, events, inside, runs)
    for witness in witnesses:
        try:
            open_note(pack.files["log/checkpoint"], witness)
        except NotSigned as error:
            open_.append(str(error))
    if not receipts and not witnesses:
        open_.append("no receipt is in it, and nobody else saw it")
    if any(open_):
        raise CannotTell("; ".join(sorted({one for one in open_ if one})))
    return f"{len(present)} entries, leaves {pack.first} to {pack.first + len(pack.leaves)} of {pack.size}"


def main(path, log, *others):
    try:
        vkey = verifier_key(open(log, encoding="utf-8").read())
        agents = [one for one in others if not one.startswith("+")]
        witnesses = [verifier_key(open(one[1:], encoding="utf-8").read()) for one in others if one.startswith("+")]
        keys = {fingerprint: check for check, fingerprint in (key(key_file(open(one, encoding="utf-8").read())) for one in agents)}
        if zipfile.is_zipfile(path):
            print("TRUE", check_pack(path, vkey, keys, witnesses))
        else:
            (index, size, _, _), statement = check_receipt(parse(open(path, "rb").read()), vkey, keys)
            print("TRUE", statement["predicate"].get("result", "made"), f"leaf {index} of {size}")
        return 0
    except CannotTell as error:
        print("CANNOT TELL", error)
        return 2
    except (False_, LookupError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        print("FALSE", type(error).__name__, error)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
