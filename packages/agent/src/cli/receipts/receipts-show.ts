import { readFile } from "node:fs/promises";
import { parseReceipt } from "@attestore/proof";
import { readEnvelope, readStatement } from "../../receipts/receipt-files.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";
import { findReceipts } from "./find-receipt.ts";

export const receiptsShow: Run = async (call, wanted) => {
  const { terminal, flags } = call;
  const { layout } = openRoot(call);
  if (wanted === undefined) throw new UserError("usage", "which receipt? Give its number, rcpt_… or bkp_…");
  const shown = [];
  for (const file of await findReceipts(layout, wanted)) {
    const statement = await readStatement(file);
    const { keyid } = await readEnvelope(file);
    const receipt = file.state === "accepted" ? parseReceipt(await readFile(file.path)) : null;
    const log =
      receipt !== null && "bundle" in receipt
        ? {
            receipt_id: receipt.bundle.leaf.id,
            log_index: receipt.bundle.inclusion_proof.log_index,
            origin: receipt.bundle.log.origin,
          }
        : null;
    shown.push({ number: file.sequence, state: file.state, file: file.path, keyid, log, statement });
  }
  if (flags.isOn("json")) terminal.data(JSON.stringify({ receipts: shown }));
  else for (const each of shown) terminal.block(JSON.stringify(each, null, 2));
  return 0;
};
