import type { CheckedEntry } from "./check-entries.ts";
import type { KeyUse } from "../agents/given-keys.ts";

/** Counts what each key signed. */
export class KeyUses {
  readonly #uses = new Map<string, KeyUse>();

  add(entry: CheckedEntry): void {
    if ("statement" in entry) {
      this.#use(entry.statement.predicate.agent_id, entry.keyFingerprint).receipts += 1;
      return;
    }
    const { id, logIndex, bundle, signature } = entry;
    if (signature === null) return;
    const use = this.#use(bundle.leaf.actor_id, signature.keyFingerprint);
    use.events += 1;
    if (use.firstEvent === null || logIndex < use.firstEvent.logIndex) use.firstEvent = { id, logIndex };
  }

  /** In the order of their first use. */
  all(): KeyUse[] {
    return [...this.#uses.values()];
  }

  #use(agentId: string, fingerprint: string): KeyUse {
    const name = `${agentId} ${fingerprint}`;
    const use = this.#uses.get(name) ?? { agentId, fingerprint, receipts: 0, events: 0, firstEvent: null };
    this.#uses.set(name, use);
    return use;
  }
}
