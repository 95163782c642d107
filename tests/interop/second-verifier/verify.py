"""A second verifier of receipts and evidence packs, written from docs/formats.md and docs/evidence.md and nothing else.

Python's standard library only: signatures are checked by the formulas of RFC 8032 and FIPS 186-5 themselves.

usage: verify.py BUNDLE.json|PACK.zip LOG.vkey AGENT.pub...
Prints a line, and ends with 0 (true), 1 (false) or 2 (cannot tell).
"""
import base64
import hashlib
import json
import re
import sys
import zipfile


class False_(Exception):
    pass


class CannotTell(Exception):
    pass


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
    raise False_(f"the note is not signed by {name}")


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

def statement_of(envelope, keys):
    demand(set(envelope) == {"payload", "payloadType", "signatures"} and len(envelope["signatures"]) == 1, "not an envelope")
    signature = envelope["signatures"][0]
    demand(set(signature) == {"keyid", "sig"}, "not a signature")
    payload, type_ = unbase64(envelope["payload"], url=True), envelope["payloadType"]
    demand(type_ == "application/vnd.in-toto+json", "another payload type")
    if signature["keyid"] not in keys:
        raise CannotTell("signed by " + signature["keyid"])
    pae = b"DSSEv1 %d %s %d %s" % (len(type_), type_.encode(), len(payload), payload)
    keys[signature["keyid"]](pae, unbase64(signature["sig"], url=True))
    return payload, parse(payload)


def check_statement(statement):
    predicate, kind = statement["predicate"], statement["predicateType"]
    demand(statement["_type"] == "https://in-toto.io/Statement/v1", "not a statement")
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


def check_receipt(bundle, vkey, keys):
    payload, statement = statement_of(bundle["envelope"], keys)
    kind, predicate, leaf = check_statement(statement), statement["predicate"], bundle["leaf"]
    demand(key(unbase64(bundle["public_key"]))[1] == bundle["envelope"]["signatures"][0]["keyid"], "the bundle has another key")
    demand(leaf["v"] == 1 and leaf["kind"] == kind and leaf["org_id"] == predicate["org_id"] and leaf["actor_id"] == predicate["agent_id"], "the leaf is of another receipt")
    demand(leaf["body_sha256"] == sha256(payload).hex(), "the leaf is about another payload")
    demand(unbase64(leaf["signature"]) == unbase64(bundle["envelope"]["signatures"][0]["sig"], url=True), "the leaf is about another signature")
    return check_leaf(bundle, vkey), predicate.get("result", "made")


def check_leaf(bundle, vkey):
    origin, size, root = checkpoint(bundle["checkpoint"], vkey)
    leaf = canonical(bundle["leaf"]).encode()
    demand(origin.endswith("/" + bundle["leaf"]["org_id"]), "the log is of another organisation")
    demand(len(leaf) <= 65535, "the leaf is too long")
    included(bundle["inclusion_proof"], leaf, size, root)
    return bundle["inclusion_proof"]["log_index"], size, root, leaf


# ---------------------------------------------------------------- packs

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


def check_pack(path, vkey, keys):
    pack = zipfile.ZipFile(path)
    names = [name for name in pack.namelist() if not name.endswith("/")]
    demand(len(set(names)) == len(names), "a file twice")
    files = {name: pack.read(name) for name in names}
    manifest = parse(files["manifest.json"])
    if manifest["format"] != "https://attestore.dev/evidence/v1":
        raise CannotTell("a pack of another version: " + manifest["format"])
    signed, _ = open_note(files["manifest.note"], vkey)
    demand(signed == f"{manifest['format']}\n{vkey[0]}\n{sha256(files['manifest.json']).hex()}\n", "the manifest is not what was signed")
    listed = {one["path"]: one for one in manifest["files"]}
    demand(set(listed) | {"manifest.json", "manifest.note"} == set(files), "the files are not those of the manifest")
    for name, one in listed.items():
        demand(len(files[name]) == one["size_bytes"] and sha256(files[name]).hex() == one["sha256"], f"{name} was changed")

    origin, size, root = checkpoint(files["log/checkpoint"], vkey)
    demand(manifest["log"] == {"origin": origin, "tree_size": size, "root_hash": root.hex()}, "the manifest names another head")
    demand(origin.endswith("/" + manifest["org_id"]), "the log is of another organisation")
    range_ = parse(files["log/range.json"])
    from_, to = range_["from_index"], range_["to_index"]
    leaves = []
    for number_ in range(from_ // 256, -(-to // 256)):
        width = min(256, to - number_ * 256)
        leaves += entries(files[tile_path(number_, width)], width)
    at_to = root_of([unhex(one) for one in range_["left_edge"]], from_, leaves)
    consistent(to, at_to, size, root, [unhex(one) for one in range_["to_head"]])

    bodies, unknown = set(), set()
    for name in sorted(files):
        if not re.match(r"(receipts|events)/", name):
            continue
        bundle = parse(files[name])
        if name.startswith("receipts/"):
            try:
                where, _ = check_receipt(bundle, vkey, keys)
            except CannotTell as error:
                unknown.add(str(error))
                continue
        else:
            demand(bundle["leaf"]["kind"] == bundle["event"]["kind"], "the leaf is of another event")
            demand(bundle["leaf"]["body_sha256"] == sha256(canonical(bundle["event"]).encode()).hex(), "the leaf is about another event")
            where = check_leaf(bundle, vkey)
        index, of, head, leaf = where
        demand((of, head) == (size, root), f"{name} leads to another head")
        demand(name.split("/")[1] == bundle["leaf"]["id"] + ".json", f"{name} is {bundle['leaf']['id']}")
        demand(not from_ <= index < to or leaves[index - from_] == leaf, f"{name} is not the leaf at its place")
        bodies.add(bundle["leaf"]["id"])
    if unknown:
        raise CannotTell(", ".join(sorted(unknown)))
    for leaf in map(parse, leaves):
        if manifest["period"]["from"] <= leaf["recorded_at"] < range_["bodies_until"]:
            demand(leaf["id"] in bodies, f"{leaf['id']} was left out")
    return f"{len(bodies)} entries, leaves {from_} to {to} of {size}"


def main(path, log, *agents):
    try:
        vkey = verifier_key(open(log, encoding="utf-8").read())
        keys = {fingerprint: check for check, fingerprint in (key(key_file(open(one, encoding="utf-8").read())) for one in agents)}
        if zipfile.is_zipfile(path):
            print("TRUE", check_pack(path, vkey, keys))
        else:
            (index, size, _, _), result = check_receipt(parse(open(path, "rb").read()), vkey, keys)
            print("TRUE", result, f"leaf {index} of {size}")
        return 0
    except CannotTell as error:
        print("CANNOT TELL", error)
        return 2
    except (False_, KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        print("FALSE", error)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
