import { readFile } from "node:fs/promises";
import {
  parseReceipt,
  ProofError,
  sha256,
  sshFingerprint,
  toHex,
  verifyReceipt,
  type NoteVerifier,
  plural,
} from "@attestore/proof";
import { listChain } from "../../receipts/chain.ts";
import {
  listAllReceipts,
  readEnvelope,
  readStatement,
  type ReceiptFile,
} from "../../receipts/receipt-files.ts";
import type { Layout } from "../../state/layout.ts";
import { readLogKey } from "../../service/attachment.ts";
import type { Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";
import { findReceipts } from "./find-receipt.ts";
import { ownPublicKeys } from "../../key-rotation/own-keys.ts";
import { verifyCommand } from "../outcome/verify-command.ts";

interface Verified {
  readonly number: number;
  readonly file: string;
  readonly verdict: "true" | "false";
  readonly faults: readonly string[];
}

/**
 * Verifies every receipt on this host: its signature, its proof, and that none was removed from the
 * chain or inserted.
 */
export const receiptsVerify: Run = async (call, wanted) => {
  const { terminal, flags } = call;
  const { layout, config } = openRoot(call);
  const logKey = config.standalone === null && config.service !== null ? await readLogKey(layout) : null;
  const files = wanted === undefined ? await listAllReceipts(layout) : await findReceipts(layout, wanted);
  const before = beforeEach(await digestsOf(layout));
  const keys = await ownPublicKeys(layout);
  const verified: Verified[] = [];
  for (const file of files) {
    const faults = await faultsOf(file, { keys, logKey, before });
    verified.push({
      number: file.sequence,
      file: file.path,
      verdict: faults.length === 0 ? "true" : "false",
      faults,
    });
  }
  const wrong = verified.filter(({ verdict }) => verdict === "false");
  if (flags.isOn("json")) terminal.data(JSON.stringify({ verified: verified.length, wrong }));
  else {
    const { good, bad } = terminal.onData;
    for (const { file, faults } of wrong) terminal.data(`${bad("✗")} ${file}: ${faults.join("; ")}`);
    if (wrong.length === 0)
      terminal.data(
        `${good("✓")} ${plural(verified.length, "receipt")}: signatures, proofs and chain are valid`,
      );
    terminal.note(
      `To verify without this program: ${await verifyCommand(layout, "RECEIPT", logKey !== null)}`,
    );
  }
  return wrong.length === 0 ? 0 : 1;
};

/** A signed statement on this host. */
interface Digest {
  readonly sequence: number;
  /** SHA-256 (hex) of its payload; null if it cannot be read. */
  readonly sha256: string | null;
}

interface Known {
  readonly keys: Awaited<ReturnType<typeof ownPublicKeys>>;
  readonly logKey: NoteVerifier | null;
  /** By its number, the statement before each. */
  readonly before: ReadonlyMap<number, Digest>;
}

async function faultsOf(file: ReceiptFile, { keys, logKey, before }: Known): Promise<string[]> {
  try {
    const envelope = await readEnvelope(file);
    const publicKey = keys.get(envelope.keyid ?? "");
    if (publicKey === undefined)
      return [`signed with ${envelope.keyid ?? "an unnamed key"}, which this root never had`];
    const receipt = file.state === "accepted" ? parseReceipt(await readFile(file.path)) : { envelope };
    const inLog = "bundle" in receipt;
    const { verdict, checks } = await verifyReceipt({
      ...receipt,
      publicKey,
      ...(inLog && logKey !== null ? { logKey } : {}),
    });
    const faults = checks
      .filter(({ result }) => result === "failed")
      .map(({ title, detail }) => `${title}: ${detail}`);
    if (verdict !== "true" && faults.length === 0)
      faults.push(`its signature is not valid under ${sshFingerprint(publicKey)}`);
    const said = (await readStatement(file))?.predicate.previous_receipt_sha256 ?? null;
    const last = before.get(file.sequence);
    if (last !== undefined && last.sha256 !== null && said !== last.sha256)
      faults.push(chainFault(file.sequence, last.sequence));
    return faults;
  } catch (error) {
    if (error instanceof ProofError || error instanceof SyntaxError) return [error.message];
    throw error;
  }
}

/**
 * `chain`: newest first. If older statements were moved away, the oldest one here names one that is
 * missing, so nothing is before it.
 */
function beforeEach(chain: readonly Digest[]): Map<number, Digest> {
  const before = new Map<number, Digest>();
  let last: Digest | undefined;
  for (const each of chain.toReversed()) {
    if (last !== undefined) before.set(each.sequence, last);
    last = each;
  }
  return before;
}

function chainFault(sequence: number, before: number): string {
  if (before === sequence - 1) return "it does not chain to the receipt or event before it";
  return `the receipt or event before it is missing: the newest one before it here is number ${before}`;
}

async function digestsOf(layout: Layout): Promise<Digest[]> {
  const digests: Digest[] = [];
  for (const { sequence, envelope } of await listChain(layout)) {
    try {
      digests.push({ sequence, sha256: toHex(sha256((await envelope()).payload)) });
    } catch (error) {
      if (!(error instanceof ProofError || error instanceof SyntaxError)) throw error;
      // This is reported where that receipt itself is verified.
      digests.push({ sequence, sha256: null });
    }
  }
  return digests;
}
