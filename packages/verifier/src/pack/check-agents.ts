import {
  agentKeyFile,
  equalBytes,
  type EventBundle,
  formatPublicKeyWire,
  fromUtf8,
  PACK_FILES,
  type PackAgent,
  parseAgents,
  parsePublicKeyFile,
  parsePublicKeyWire,
  ProofError,
  type PublicKey,
  sshFingerprint,
} from "@attestore/proof";
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./pack-files.ts";

const MAX_AGENTS = 64 * 1024 * 1024;
const MAX_KEY = 16 * 1024;

export interface KnownAgent extends PackAgent {
  publicKey: PublicKey;
}

/** The agents' keys as the pack tells of them, and that each key's file is that key. */
export async function readAgents(files: PackFiles, findings: Findings): Promise<Map<string, KnownAgent>> {
  const known = new Map<string, KnownAgent>();
  const parsed = await files.parsed("agents", PACK_FILES.agents, MAX_AGENTS, parseAgents);
  for (const agent of parsed?.agents ?? []) {
    try {
      const publicKey = parsePublicKeyWire(agent.public_key);
      if (sshFingerprint(publicKey) !== agent.key_fingerprint)
        throw new ProofError("malformed_key", `the fingerprint of ${agent.id} is not that of its key`);
      known.set(agent.id, { ...agent, publicKey });
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      findings.fail("agents", error.message);
    }
  }
  for (const { id, publicKey } of known.values())
    await files.parsed("agents", agentKeyFile(id), MAX_KEY, (bytes) => {
      if (formatPublicKeyWire(parsePublicKeyFile(fromUtf8(bytes))) !== formatPublicKeyWire(publicKey))
        throw new ProofError("malformed_key", "it is another key than the one in agents.json");
    });
  return known;
}

/** Where in the log each agent came and went. */
export interface AgentTimes {
  attachedAt: Map<string, number>;
  revokedAt: Map<string, number>;
}

/**
 * That keys and times are those which the log tells of: `agent_attached` has the key's fingerprint, `agent_revoked` ends it. `given`
 * are keys that whoever asks has from the hosts.
 */
export function checkAgents(
  findings: Findings,
  agents: ReadonlyMap<string, KnownAgent>,
  events: ReadonlyMap<string, EventBundle>,
  given: readonly PublicKey[],
): AgentTimes {
  const times: AgentTimes = { attachedAt: new Map(), revokedAt: new Map() };
  for (const { leaf, event, inclusion_proof } of events.values()) {
    const id = event.detail["agent_id"];
    if (typeof id !== "string") continue;
    if (leaf.kind === "agent_attached") times.attachedAt.set(id, inclusion_proof.log_index);
    if (leaf.kind === "agent_revoked") times.revokedAt.set(id, inclusion_proof.log_index);
    if (leaf.kind === "agent_revoked" && agents.get(id)?.revoked_event_id !== leaf.id)
      findings.fail("agents", `${id} was revoked by ${leaf.id}, and agents.json does not say so`);
  }
  let unbound = 0;
  for (const agent of agents.values()) {
    if (agent.attached_event_id === null) unbound += 1;
    else requireTold(findings, agent, "attached", events.get(agent.attached_event_id));
    if (agent.revoked_event_id !== null)
      requireTold(findings, agent, "revoked", events.get(agent.revoked_event_id));
    else if (agent.valid_until !== null)
      findings.fail("agents", `${agent.id} is said to be revoked, and no event of the log tells of it`);
  }
  const confirmed = compareGiven(findings, agents, given);
  if (unbound > 0)
    findings.leaveOpen(
      "agents",
      `of ${unbound} agents the log does not tell whose key it is`,
      "--key FILE of each",
    );
  findings.hold(
    "agents",
    `${agents.size} keys, each bound to its agent by an entry of the log; ${confirmed} compared with keys that you gave`,
  );
  return times;
}

function requireTold(
  findings: Findings,
  agent: KnownAgent,
  what: "attached" | "revoked",
  bundle: EventBundle | undefined,
): void {
  const moment = what === "attached" ? agent.valid_from : agent.valid_until;
  const isTold =
    bundle !== undefined &&
    bundle.leaf.kind === `agent_${what}` &&
    bundle.event.detail["agent_id"] === agent.id &&
    bundle.event.detail["key_fingerprint"] === agent.key_fingerprint &&
    bundle.event.occurred_at === moment;
  if (!isTold)
    findings.fail(
      "agents",
      `the log does not tell that ${agent.id} was ${what} at ${moment} with ${agent.key_fingerprint}`,
    );
}

function compareGiven(
  findings: Findings,
  agents: ReadonlyMap<string, KnownAgent>,
  given: readonly PublicKey[],
): number {
  for (const key of given) {
    const isKnown = [...agents.values()].some(
      ({ publicKey }) => publicKey.algorithm === key.algorithm && equalBytes(publicKey.bytes, key.bytes),
    );
    if (!isKnown)
      findings.fail("agents", `no agent in the pack has the key ${sshFingerprint(key)} that you gave`);
  }
  return given.length;
}
