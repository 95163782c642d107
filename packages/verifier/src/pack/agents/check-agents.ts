import {
  type EventBundle,
  keyRotationFromJson,
  ProofError,
  sshFingerprint,
  verifyKeyRotation,
  plural,
} from "@attestore/proof";
import type { Findings } from "../findings.ts";
import type { GivenKeys } from "./given-keys.ts";
import type { PackFiles } from "../files/pack-files.ts";
import type { KnownAgent } from "./read-agents.ts";

/** Where in the log each agent was attached and revoked, and where each later key came into use. */
export interface AgentTimes {
  attachedAt: Map<string, number>;
  revokedAt: Map<string, number>;
  /** By fingerprint. */
  inUseFrom: Map<string, number>;
}

/** What the pack's events say of agents. */
export interface AgentEvents {
  /** Those of the kinds in `ABOUT_AGENTS`, in log order. */
  all(): AsyncIterable<EventBundle>;
  /** A valid event. */
  get(id: string): Promise<EventBundle | undefined>;
}

/** Kinds of events that attach and revoke agents, and replace their keys. */
export const ABOUT_AGENTS: readonly string[] = ["agent_attached", "agent_key_rotated", "agent_revoked"];

/**
 * Checks keys and times against the log: `agent_attached` has the first key's fingerprint, each
 * `agent_key_rotated` shows the previous key vouching for the next, and `agent_revoked` ends the
 * last one.
 */
export async function checkAgents(
  files: PackFiles,
  findings: Findings,
  agents: ReadonlyMap<string, KnownAgent>,
  events: AgentEvents,
  givenKeys: GivenKeys,
): Promise<AgentTimes> {
  const times: AgentTimes = { attachedAt: new Map(), revokedAt: new Map(), inUseFrom: new Map() };
  for await (const { leaf, event, inclusion_proof } of events.all()) {
    const id = event.detail["agent_id"];
    if (typeof id !== "string") continue;
    if (leaf.kind === "agent_attached") times.attachedAt.set(id, inclusion_proof.log_index);
    // Only the first: a second one would replace the first key.
    if (leaf.kind === "agent_attached" && agents.get(id)?.attached_event_id !== leaf.id)
      findings.fail("agents", `${id} was attached by ${leaf.id}, but agents.json does not say so`);
    if (leaf.kind === "agent_revoked") times.revokedAt.set(id, inclusion_proof.log_index);
    if (leaf.kind === "agent_revoked" && agents.get(id)?.revoked_event_id !== leaf.id)
      findings.fail("agents", `${id} was revoked by ${leaf.id}, but agents.json does not say so`);
    if (leaf.kind === "agent_key_rotated" && !namesRotation(agents.get(id), leaf.id))
      findings.fail("agents", `${leaf.id} gave ${id} another key, but agents.json does not say so`);
  }
  let unbound = 0;
  for (const agent of agents.values()) {
    const isGiven = agent.keys.some(({ fingerprint }) => givenKeys.has(agent.id, fingerprint));
    if (agent.attached_event_id === null) unbound += isGiven ? 0 : 1;
    else requireTold(findings, agent, "attached", await events.get(agent.attached_event_id));
    if (agent.revoked_event_id !== null)
      requireTold(findings, agent, "revoked", await events.get(agent.revoked_event_id));
    else if (agent.valid_until !== null)
      findings.fail("agents", `${agent.id} is listed as revoked, but the log has no event for it`);
    await requireRotations(files, findings, { agent, events, inUseFrom: times.inUseFrom });
  }
  if (unbound > 0)
    findings.leaveOpen(
      "agents",
      `for ${plural(unbound, "agent")} the log does not say whose key it is`,
      "--key FILE for each",
    );
  const count = [...agents.values()].flatMap(({ keys }) => keys).length;
  findings.hold("agents", `${plural(count, "key")}, each bound to its agent by an entry of the log`);
  return times;
}

function requireTold(
  findings: Findings,
  agent: KnownAgent,
  what: "attached" | "revoked",
  bundle: EventBundle | undefined,
): void {
  const moment = what === "attached" ? agent.valid_from : agent.valid_until;
  const { fingerprint } = what === "attached" ? (agent.keys[0] ?? agent.inUse) : agent.inUse;
  const isTold =
    bundle !== undefined &&
    bundle.leaf.kind === `agent_${what}` &&
    bundle.event.detail["agent_id"] === agent.id &&
    bundle.event.detail["key_fingerprint"] === fingerprint &&
    bundle.event.occurred_at === moment;
  if (!isTold)
    findings.fail(
      "agents",
      `the log does not show that ${agent.id} was ${what} at ${moment} with ${fingerprint}`,
    );
}

function namesRotation(agent: KnownAgent | undefined, eventId: string): boolean {
  return agent?.earlier_keys.some(({ rotated_event_id }) => rotated_event_id === eventId) ?? false;
}

/** Checks that each later key was introduced by the one before, with both keys' signatures. */
async function requireRotations(
  files: PackFiles,
  findings: Findings,
  { agent, events, inUseFrom }: { agent: KnownAgent; events: AgentEvents; inUseFrom: Map<string, number> },
): Promise<void> {
  let since = agent.valid_from;
  for (const [
    n,
    { key_fingerprint, valid_from, valid_until, rotated_event_id },
  ] of agent.earlier_keys.entries()) {
    const bundle = await events.get(rotated_event_id);
    const next = agent.keys[n + 1] ?? agent.inUse;
    const why =
      valid_from !== since
        ? `it is listed as valid from ${valid_from}, but the time before it ended at ${since}`
        : await rotationProblem(agent, bundle, { key_fingerprint, valid_until, next: next.fingerprint });
    const what = `the log does not show how ${agent.id} replaced ${key_fingerprint}`;
    if (typeof why === "string") findings.fail("agents", `${what}: ${why}`);
    else if (why !== null) files.refuse(findings, "agents", what, why);
    if (bundle !== undefined) inUseFrom.set(next.fingerprint, bundle.inclusion_proof.log_index);
    since = valid_until;
  }
}

async function rotationProblem(
  agent: KnownAgent,
  bundle: EventBundle | undefined,
  claimed: { key_fingerprint: string; valid_until: string; next: string },
): Promise<string | ProofError | null> {
  if (bundle?.leaf.kind !== "agent_key_rotated") return "its event is missing";
  const { by_old, by_new } = bundle.event.detail;
  try {
    const { orgId, agentId, rotatedAt, before, after } = await verifyKeyRotation(
      keyRotationFromJson({ by_old, by_new }),
    );
    const isOfIt =
      orgId === bundle.leaf.org_id &&
      agentId === agent.id &&
      rotatedAt === claimed.valid_until &&
      sshFingerprint(before) === claimed.key_fingerprint &&
      sshFingerprint(after) === claimed.next;
    return isOfIt ? null : "what the keys signed contradicts it";
  } catch (error) {
    if (error instanceof ProofError) return error;
    throw error;
  }
}
