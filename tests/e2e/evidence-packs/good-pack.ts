/**
 * An organisation's evidence pack that is true, and how an auditor verifies it, or what somebody
 * made of it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePublicKeyWire, parseVerifierKey, type NoteVerifier, sshFingerprint } from "@attestore/proof";
import { afterAll } from "vitest";
import type { PinnedKey } from "../../../packages/verifier/src/pinned-key.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";
import type { TestAgent } from "../../../packages/orchestrator/test/service.ts";
import {
  type Files,
  filesOf,
  makeOrganisation,
  type Organisation,
  save,
  withManifest,
  writeZip,
} from "../harness/packs.ts";

export interface GoodPack {
  organisation: Organisation;
  /** What is in `file("good.zip")`. */
  good: Files;
  logKey: NoteVerifier;
  /** The same as text. */
  vkey: string;
  /** A path in a directory that is removed after the file's tests. */
  file: (name: string) => string;
  /** As an auditor who has the log's key, and from the host the one agent key that signed first. */
  verify: (path: string, key?: NoteVerifier | null, agents?: readonly TestAgent[]) => Promise<PackOutcome>;
  /** What somebody who has only the pack made of it. */
  verifyChanged: (files: Files) => Promise<PackOutcome>;
  /** What the service made of it, whose key signs the changed manifest. */
  verifyForged: (files: Files) => Promise<PackOutcome>;
}

export async function makeGoodPack(): Promise<GoodPack> {
  const directory = mkdtempSync(join(tmpdir(), "attestore-packs-"));
  const organisation = await makeOrganisation('Example <script>alert("1")</script> & Sons');
  afterAll(async () => {
    await organisation.close();
    rmSync(directory, { recursive: true });
  });
  const file = (name: string): string => join(directory, name);
  await save(file("good.zip"), await organisation.pack());
  const vkey = organisation.agent.log.verifier_key;
  const logKey = parseVerifierKey(vkey);
  const verify: GoodPack["verify"] = (path, key = logKey, agents = [organisation.agent]) =>
    verifyPackFile(path, { logKey: key ?? undefined, keys: agents.map(pinned) });
  const verifyChanged = async (files: Files): Promise<PackOutcome> => {
    await writeZip(file("changed.zip"), files);
    return verify(file("changed.zip"));
  };
  const { signer } = organisation.service;
  const verifyForged = async (files: Files): Promise<PackOutcome> =>
    verifyChanged(await withManifest(files, (origin, text) => signer.signText(origin, text)));
  return {
    organisation,
    good: await filesOf(file("good.zip")),
    logKey,
    vkey,
    file,
    verify,
    verifyChanged,
    verifyForged,
  };
}

/** A key that whoever asks took from its host. */
export function pinned(agent: Pick<TestAgent, "publicKeyWire">): PinnedKey {
  const publicKey = parsePublicKeyWire(agent.publicKeyWire);
  const source = { kind: "file", where: "agent.pub" } as const;
  return { publicKey, fingerprint: sshFingerprint(publicKey), agentId: null, since: null, source };
}

/** Of the checks with this result. */
export const idsOf = ({ checks }: PackOutcome, result: string): string[] =>
  checks.filter((check) => check.result === result).map(({ id }) => id);
