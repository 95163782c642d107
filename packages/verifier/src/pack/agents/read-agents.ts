import {
  agentKeyFile,
  earlierKeyFile,
  formatPublicKeyWire,
  fromUtf8,
  PACK_FILES,
  type PackAgent,
  parseAgents,
  parsePublicKeyFile,
  parsePublicKeyWire,
  ProofError,
  sshFingerprint,
  type TrustedKey,
} from "@attestore/proof";
import type { Findings } from "../findings.ts";
import type { PackFiles } from "../files/pack-files.ts";

const MAX_AGENTS = 64 * 1024 * 1024;
const MAX_KEY = 16 * 1024;

/** An agent and all keys that it signed with, the oldest first. */
export interface KnownAgent extends PackAgent {
  keys: TrustedKey[];
  inUse: TrustedKey;
}

/** Reads the agents' keys in the pack, and checks that each key's file contains that key. */
export async function readAgents(files: PackFiles, findings: Findings): Promise<Map<string, KnownAgent>> {
  const known = new Map<string, KnownAgent>();
  const parsed = await files.parsed("agents", PACK_FILES.agents, MAX_AGENTS, parseAgents);
  for (const agent of parsed?.agents ?? []) {
    try {
      const earlier = agent.earlier_keys.map((key) => namedKey(agent, key, key.valid_until));
      const inUse = namedKey(agent, agent, null);
      known.set(agent.id, { ...agent, keys: [...earlier, inUse], inUse });
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      findings.fail("agents", error.message);
    }
  }
  for (const { id, keys, inUse } of known.values())
    for (const [n, key] of keys.entries()) {
      const path = key === inUse ? agentKeyFile(id) : earlierKeyFile(id, n + 1);
      await files.parsed("agents", path, MAX_KEY, (bytes) => {
        if (formatPublicKeyWire(parsePublicKeyFile(fromUtf8(bytes))) !== formatPublicKeyWire(key.publicKey))
          throw new ProofError("malformed_key", "it differs from the key in agents.json");
      });
    }
  return known;
}

function namedKey(
  { id }: PackAgent,
  { public_key, key_fingerprint }: Pick<PackAgent, "public_key" | "key_fingerprint">,
  replacedAt: string | null,
): TrustedKey {
  const publicKey = parsePublicKeyWire(public_key);
  const fingerprint = sshFingerprint(publicKey);
  if (fingerprint !== key_fingerprint)
    throw new ProofError("malformed_key", `a fingerprint of ${id} does not match its key`);
  return { publicKey, fingerprint, replacedAt };
}
