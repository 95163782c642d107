import { AGENT_TOKEN } from "@attestore/contract";
import type { Selectable } from "kysely";
import { Gathered } from "../../database/gathered.ts";
import { runPrepared, type PreparedQuery } from "../../database/prepared.ts";
import type { AgentsTable, Database } from "../../database/schema.ts";
import { credentialHash, unauthenticated } from "./bearer.ts";
import { agentRevoked } from "./lock-active-agent.ts";
import type { AgentPrincipal } from "../route/principal.ts";

const FRESH_MS = 5000;
const MAX_KEPT = 50_000;
const MAX_TOGETHER = 200;

type Row = Pick<
  Selectable<AgentsTable>,
  "id" | "org_id" | "name" | "public_key" | "key_fingerprint" | "status" | "last_seen_at" | "token_sha256"
>;

const OF_TOKENS: PreparedQuery = {
  name: "agents_of_tokens",
  text: "select id, org_id, name, public_key, key_fingerprint, status, last_seen_at, token_sha256 from agents where token_sha256 = any ($1::bytea[])",
};

interface Known {
  principal: AgentPrincipal;
  revoked: boolean;
  readAt: number;
}

/**
 * Finds the agent of a token: SHA-256 of the token by unique index, so no secret is ever compared
 * byte by byte. `lookUp` asks the database each time. `lookUpRecent` may return a state that is up
 * to five seconds old. It is only for routes whose own transaction reads agents.status again
 * (submissions). A revocation still takes effect at once on every replica, because the value read
 * here only chooses the key to verify with.
 */
export class AgentCredentials {
  readonly #rows: Gathered<Buffer, Row | null>;
  readonly #firstCall: (agentId: string) => Promise<void>;
  readonly #kept = new Map<string, Known>();

  /** `firstCall` runs before an agent's first authenticated call continues. */
  constructor(db: Database, firstCall: (agentId: string) => Promise<void>) {
    this.#rows = new Gathered({ wait_ms: 0, maxWeight: MAX_TOGETHER, run: (tokens) => rowsOf(db, tokens) });
    this.#firstCall = firstCall;
  }

  /**
   * Throws `unauthenticated`. A revoked agent is returned with `revoked` set, so that the refusal
   * can be attributed.
   */
  lookUp(token: string): Promise<Known> {
    return this.#read(hashOf(token));
  }

  async lookUpRecent(token: string): Promise<Known> {
    const credential = hashOf(token);
    const known = this.#kept.get(credential.toString("base64"));
    if (known !== undefined && performance.now() - known.readAt < FRESH_MS) return known;
    return this.#read(credential);
  }

  async #read(credential: Buffer): Promise<Known> {
    const row = await this.#rows.do(credential);
    if (row === null) throw unauthenticated();
    if (row.last_seen_at === null && row.status === "active") await this.#firstCall(row.id);
    const principal: AgentPrincipal = {
      kind: "agent",
      id: row.id,
      orgId: row.org_id,
      name: row.name,
      publicKey: row.public_key,
      keyFingerprint: row.key_fingerprint,
      credential,
    };
    const known = { principal, revoked: row.status === "revoked", readAt: performance.now() };
    // Emptied instead of evicting one by one: it refills within seconds.
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(credential.toString("base64"), known);
    return known;
  }
}

async function rowsOf(db: Database, tokens: readonly Buffer[]): Promise<(Row | null)[]> {
  const rows = await runPrepared<Row>(db, OF_TOKENS, [tokens]);
  const found = new Map(rows.map((row) => [row.token_sha256.toString("base64"), row]));
  return tokens.map((token) => found.get(token.toString("base64")) ?? null);
}

/**
 * Tokens themselves don't stay in memory. Throws `unauthenticated` for text that does not have the
 * form of a token.
 */
function hashOf(token: string): Buffer {
  if (!AGENT_TOKEN.test(token)) throw unauthenticated();
  return credentialHash(token);
}

/** Throws 401 `agent_revoked` if the token was right but the agent is revoked. */
export function assertActive(known: Known): void {
  if (known.revoked) throw agentRevoked();
}
