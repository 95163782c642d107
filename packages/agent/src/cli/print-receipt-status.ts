import type { Terminal } from "./terminal/terminal.ts";
import type { ReceiptStatus } from "../backends/backup-backend.ts";

/** Where a run's receipt has got to. That it is not where it belongs is talk, not data. */
export function printReceiptStatus(terminal: Terminal, fate: ReceiptStatus): void {
  const { good } = terminal.onData;
  if (fate.state === "accepted")
    terminal.data(
      `${good("✓")} ${fate.receiptId ?? ""}  in the log at ${fate.logIndex ?? ""}, proof verified`,
    );
  else if (fate.state === "kept") terminal.data(`${good("✓")} signed: ${fate.file}`);
  else
    terminal.say(
      `${terminal.onTalk.warn("!")} the receipt is ${fate.state}: ${fate.why ?? "see `attestore status`"}`,
    );
}
