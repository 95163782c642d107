import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  formatEnvelope,
  formatPublicKeyPem,
  formatVerifierKey,
  type Envelope,
  type ReceiptBundle,
  type Statement,
} from "@attestore/proof";
import {
  backupStatement,
  bundleOf,
  CIPHERTEXT,
  LOG_NAME,
  restoreTestStatement,
  signStatement,
} from "../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf, type TestKey } from "../../proof/test/signing-keys.ts";

export const agent = await ed25519Key(1);
export const otherAgent = await ed25519Key(2);
export const log = await ed25519Key(3);
export const otherLog = await ed25519Key(4);

export const vkey = formatVerifierKey(verifierOf(log, LOG_NAME));
export const otherVkey = formatVerifierKey(verifierOf(otherLog, LOG_NAME));

export async function signed(
  statement: Statement,
  key: TestKey = agent,
): Promise<{ envelope: Envelope; bundle: ReceiptBundle }> {
  const envelope = await signStatement(statement, key);
  return { envelope, bundle: await bundleOf({ statement, envelope, agent: key, log }) };
}

/** Files as an auditor would have them, in a directory of their own. */
export class Evidence {
  readonly directory = mkdtempSync(join(tmpdir(), "attestore-verify-"));

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  writeJson(name: string, content: unknown): string {
    return this.write(name, JSON.stringify(content));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** The common case: a passed restore test, its backup, and the keys. */
export async function usualEvidence(): Promise<{
  files: Evidence;
  passed: string;
  envelope: string;
  backup: string;
  key: string;
  ciphertext: string;
  bundle: ReceiptBundle;
}> {
  const files = new Evidence();
  const restoreTest = await signed(restoreTestStatement());
  const backup = await signed(backupStatement());
  return {
    files,
    passed: files.writeJson("passed.json", restoreTest.bundle),
    envelope: files.write("envelope.json", formatEnvelope(restoreTest.envelope)),
    backup: files.writeJson("backup.json", backup.bundle),
    key: files.write("agent.pub", formatPublicKeyPem(agent.publicKey)),
    ciphertext: files.write("backup.age", CIPHERTEXT),
    bundle: restoreTest.bundle,
  };
}
