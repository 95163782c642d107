import { fromUtf8, isTypeId, parsePublicKeyFile, ProofError, sshFingerprint } from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";
import type { KeySource, PinnedKey } from "./pinned-key.ts";

/**
 * A list of agents' keys from a source other than the operator; docs/formats.md describes the
 * format.
 */
export interface KeyList {
  /**
   * The list's organisation; null if the list does not name one. A list signed by an owner must
   * name it.
   */
  orgId: string | null;
  keys: PinnedKey[];
}

const MAX_KEYS = 100_000;

/**
 * Parses a list of keys. Throws CannotTell for an invalid line: nobody should trust a list that was
 * only half understood.
 */
export function parseKeyList(path: string, bytes: Uint8Array, source: KeySource): KeyList {
  const list: KeyList = { orgId: null, keys: [] };
  for (const [n, line] of textOf(path, bytes).split("\n").entries()) {
    const [first = "", ...words] = line.trim().split(/[ \t]+/);
    if (first === "" || first.startsWith("#")) continue;
    const refuse = (why: string): never => {
      throw new CannotTell("key_unreadable", `${path}, line ${n + 1}: ${why}`);
    };
    if (first === "org") {
      const [id, ...more] = words;
      if (list.orgId !== null || !isTypeId(id, "org") || more.length > 0)
        return refuse("only one line `org org_…` may name the organisation");
      list.orgId = id;
      continue;
    }
    try {
      list.keys.push(parseLine(first, words, { ...source, where: `${source.where}, line ${n + 1}` }));
    } catch (error) {
      if (error instanceof ProofError) return refuse(error.message);
      throw error;
    }
    if (list.keys.length > MAX_KEYS) return refuse(`more than ${MAX_KEYS} keys`);
  }
  if (list.keys.length === 0) throw new CannotTell("key_unreadable", `${path} contains no key`);
  return list;
}

/**
 * Parses `ssh-ed25519 AAAA…` or the wire form's base64, then words: an agent's id, `since=` a date,
 * or any comment.
 */
function parseLine(first: string, words: string[], source: KeySource): PinnedKey {
  const isSsh = /^(ssh-|ecdsa-)/.test(first);
  const publicKey = parsePublicKeyFile(isSsh ? `${first} ${words[0] ?? ""}` : first);
  const more = isSsh ? words.slice(1) : words;
  const agentIds = more.filter((word) => word.startsWith("agent_"));
  const since = more.filter((word) => word.startsWith("since=")).map((word) => word.slice("since=".length));
  if (agentIds.length > 1 || agentIds.some((id) => !isTypeId(id, "agent")))
    throw new ProofError("malformed_key", "agent_… is not an agent's id");
  if (since.length > 1 || since.some((date) => !isDate(date)))
    throw new ProofError("malformed_key", "since= takes one date, like since=2026-11-22");
  return {
    publicKey,
    fingerprint: sshFingerprint(publicKey),
    agentId: agentIds[0] ?? null,
    since: since[0] === undefined ? null : new Date(`${since[0]}T00:00:00.000Z`).toISOString(),
    source,
  };
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00.000Z`);
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  );
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("key_unreadable", `${path}: ${error.message}`);
    throw error;
  }
}
