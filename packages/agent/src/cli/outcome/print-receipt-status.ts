import type { Terminal } from "../terminal/terminal.ts";
import type { ReceiptStatus } from "../../backends/backup-backend.ts";

/**
 * Prints where a run's receipt is. If it is not where it belongs, that goes to stderr, because it
 * is not data.
 */
export function printReceiptStatus(terminal: Terminal, status: ReceiptStatus): void {
  const { good } = terminal.onData;
  if (status.state === "accepted")
    terminal.data(
      `${good("✓")} ${status.receiptId ?? ""}  in the log at ${status.logIndex ?? ""}, proof verified`,
    );
  else if (status.state === "kept") terminal.data(`${good("✓")} signed: ${status.file}`);
  else
    terminal.say(
      `${terminal.onTalk.warn("!")} the receipt is ${status.state}: ${status.why ?? "see `attestore status`"}`,
    );
}
