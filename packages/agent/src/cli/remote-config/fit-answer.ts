import { type FoundServer, MAX_BODY_BYTES } from "@attestore/contract";

const MOST_NAMES = 500;
/** The rest of the request needs far less than the difference. */
const MOST_BYTES = MAX_BODY_BYTES - 64 * 1024;

/**
 * Leaves out names at the end of long lists, and as many of each, until the service takes the
 * answer. Whoever waits for an answer that it refuses would get none.
 */
export function fitAnswer(servers: readonly FoundServer[]): FoundServer[] {
  for (let most = MOST_NAMES; ; most = Math.floor(most / 2)) {
    const cut = servers.map((each) => ({ ...each, databases: each.databases.slice(0, most) }));
    if (most === 0 || Buffer.byteLength(JSON.stringify(cut)) <= MOST_BYTES) return cut;
  }
}
