import { type NoteVerifier, type PublicKey, sshFingerprint } from "@attestore/proof";
import {
  blobSource,
  claimedLog,
  joinPacks,
  type JoinedPacks,
  type KeyList,
  type PackEvidence,
  type PackOutcome,
  sizesToCompare,
  verifyPack,
} from "@attestore/verifier/pack";

export interface NamedFile {
  name: string;
  file: File;
}

/** What the reader has from elsewhere. The browser knows no other keys for packs. */
export interface GivenToPacks {
  agents: readonly { name: string; key: PublicKey }[];
  list: KeyList | null;
  logs: readonly NoteVerifier[];
  witnesses: readonly NoteVerifier[];
}

export interface VerifiedPacks {
  outcomes: readonly PackOutcome[];
  joined: readonly JoinedPacks[];
}

/**
 * Verifies packs in this browser, each by itself and all of one organisation as a chain, by
 * attestore-verify's own code.
 */
export async function verifyPacks(
  packs: readonly NamedFile[],
  { agents, list, logs, witnesses }: GivenToPacks,
): Promise<VerifiedPacks> {
  const opened = packs.map(
    ({ file }) =>
      () =>
        Promise.resolve(blobSource(file)),
  );
  const evidence: Omit<PackEvidence, "logKey"> = {
    keys: [
      ...agents.map(({ name, key }) => ({
        publicKey: key,
        fingerprint: sshFingerprint(key),
        agentId: null,
        since: null,
        source: { kind: "file" as const, where: name },
      })),
      ...(list?.keys ?? []),
    ],
    keysOfOrg: list?.orgId ?? null,
    witnessKeys: witnesses,
    sizes: await sizesToCompare(opened),
  };
  const outcomes: PackOutcome[] = [];
  for (const { name, file } of packs) {
    const claimed = logs.length > 1 ? await claimedLog(() => Promise.resolve(blobSource(file))) : null;
    const logKey = logs.find((key) => key.name === claimed?.origin) ?? logs[0];
    outcomes.push(await verifyPack(name, blobSource(file), { ...evidence, logKey }));
  }
  return { outcomes, joined: joinPacks(outcomes) };
}
