import { formatAge } from "../terminal/times.ts";
import { listAllReceipts } from "../../receipts/receipt-files.ts";
import { readSourceIds } from "../../state/source-ids.ts";
import type { Style } from "../terminal/terminal.ts";
import type { Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";
import { receiptLine, type ReceiptLine } from "./receipt-line.ts";

export const receiptsList: Run = async (call) => {
  const { terminal, flags } = call;
  const { layout } = openRoot(call);
  const wanted = flags.text("source");
  const limit = flags.count("limit", { least: 1 }) ?? 20;
  const slugs = new Map([...(await readSourceIds(layout))].map(([slug, id]) => [id, slug]));
  const lines: ReceiptLine[] = [];
  for (const file of await listAllReceipts(layout)) {
    if (lines.length >= limit) break;
    const line = await receiptLine(file, slugs);
    if (wanted === undefined || line.source === wanted) lines.push(line);
  }
  if (flags.isOn("json")) terminal.data(JSON.stringify({ receipts: lines }));
  else if (lines.length === 0) terminal.note("No receipts yet.");
  else for (const line of lines) terminal.data(describe(line, terminal.onData));
  return 0;
};

function describe(line: ReceiptLine, style: Style): string {
  const results: Readonly<Record<string, string>> = {
    passed: style.good("passed"),
    failed: style.bad("FAILED"),
  };
  const what = line.kind === "backup" ? "backup" : `restore test ${results[line.result ?? ""] ?? "?"}`;
  const state = line.state === "accepted" ? "" : style.warn(`  ${line.state}`);
  return `${String(line.number).padStart(6)}  ${line.source ?? style.bad("unreadable")}  ${what}  ${line.backup_id ?? ""}  ${line.at === null ? "" : formatAge(line.at)}${state}`;
}
