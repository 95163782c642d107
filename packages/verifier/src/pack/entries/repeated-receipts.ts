import { receiptFile } from "@attestore/proof";
import { TextIndex } from "../../compact/text-index.ts";
import type { CheckedReceipt } from "./check-receipt.ts";
import { Findings } from "../findings.ts";

/**
 * Checks that each receipt is in the log once: what an agent signed once must not count twice.
 * Memory has at most 53 bytes of each.
 */
export class RepeatedReceipts {
  readonly #idOf: (file: number) => string;
  readonly #findings = new Findings();
  /** Files by SHA-256 of the payload. */
  readonly #files = new TextIndex();

  /** `idOf` gives the id of the receipt in a file. */
  constructor(idOf: (file: number) => string) {
    this.#idOf = idOf;
  }

  /** In log order. */
  add({ file, id, bodySha256 }: Pick<CheckedReceipt, "file" | "id" | "bodySha256">): void {
    const first = this.#files.get(bodySha256);
    if (first === undefined) this.#files.set(bodySha256, file);
    else this.#findings.fail("receipts", `${receiptFile(id)}: it is ${this.#idOf(first)} again`);
  }

  check(findings: Findings): void {
    findings.takeOver(this.#findings);
  }
}
