import { readFile } from "node:fs/promises";
import { parseReceipt, ProofError, type Statement } from "@attestore/proof";
import { readStatement, type ReceiptFile } from "../../receipts/receipt-files.ts";

/** A receipt on this host, as lists show it. */
export interface ReceiptLine {
  readonly number: number;
  readonly kind: ReceiptFile["kind"];
  readonly state: ReceiptFile["state"];
  readonly at: string | null;
  /** The slug if this root knows it; otherwise the source's id. */
  readonly source: string | null;
  readonly backup_id: string | null;
  /** Null for a backup. */
  readonly result: string | null;
  /** The service's id, once it is accepted. */
  readonly receipt_id: string | null;
  readonly file: string;
}

export async function receiptLine(
  file: ReceiptFile,
  slugs: ReadonlyMap<string, string>,
): Promise<ReceiptLine> {
  const statement = await readable(file);
  const predicate = statement?.predicate;
  const source = predicate === undefined ? null : (slugs.get(predicate.source_id) ?? predicate.source_id);
  return {
    number: file.sequence,
    kind: file.kind,
    state: file.state,
    at: predicate?.finished_at ?? null,
    source,
    backup_id: predicate?.backup_id ?? null,
    result: predicate !== undefined && "result" in predicate ? predicate.result : null,
    receipt_id: await idOf(file),
    file: file.path,
  };
}

/** Null if the file is damaged. The list continues. */
async function readable(file: ReceiptFile): Promise<Statement | null> {
  try {
    return await readStatement(file);
  } catch {
    return null;
  }
}

async function idOf({ state, path }: ReceiptFile): Promise<string | null> {
  if (state !== "accepted") return null;
  try {
    const receipt = parseReceipt(await readFile(path));
    return "bundle" in receipt ? receipt.bundle.leaf.id : null;
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}
