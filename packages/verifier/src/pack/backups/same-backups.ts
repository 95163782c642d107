import { hashFromHex, HASH_SIZE, receiptFile, toHex } from "@attestore/proof";
import { GrowingNumbers } from "../../compact/growing-numbers.ts";
import { Numbering } from "../../compact/numbering.ts";
import { TextIndex } from "../../compact/text-index.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { Findings } from "../findings.ts";

type Receipt = Pick<CheckedReceipt, "file" | "id" | "statement">;

/**
 * Checks that all receipts of one backup name the same ciphertext and the same source: otherwise
 * what was tested is not what was backed up. Memory has some 90 bytes of each backup.
 */
export class SameBackups {
  readonly #idOf: (file: number) => string;
  readonly #findings = new Findings();
  readonly #backups = new TextIndex();
  readonly #sources = new Numbering();
  /** The file of each backup's first receipt, and what it names. */
  readonly #first = {
    file: GrowingNumbers.uint32(),
    source: GrowingNumbers.uint32(),
    sha256: GrowingNumbers.bytes(),
  };

  /** `idOf` gives the id of the receipt in a file. */
  constructor(idOf: (file: number) => string) {
    this.#idOf = idOf;
  }

  add({ file, id, statement: { predicate, ciphertextSha256 } }: Receipt): void {
    const { file: files, source: sources, sha256 } = this.#first;
    const { backup_id, source_id } = predicate;
    const source = this.#sources.add(source_id);
    const backup = this.#backups.get(backup_id);
    if (backup === undefined) {
      this.#backups.set(backup_id, files.length);
      files.push(file);
      sources.push(source);
      for (const byte of hashFromHex(ciphertextSha256)) sha256.push(byte);
      return;
    }
    const differs = (what: string, own: string, others: string): void => {
      if (own !== others)
        this.#findings.fail(
          "receipts",
          `${receiptFile(id)}: the ${what} of ${backup_id} is ${own}, but ${others} in ${this.#idOf(files.at(backup))}`,
        );
    };
    differs("source", source_id, this.#sources.textAt(sources.at(backup)));
    differs("ciphertext's SHA-256", ciphertextSha256, this.#sha256At(backup));
  }

  check(findings: Findings): void {
    findings.takeOver(this.#findings);
  }

  #sha256At(backup: number): string {
    const { sha256 } = this.#first;
    return toHex(Uint8Array.from({ length: HASH_SIZE }, (_, n) => sha256.at(backup * HASH_SIZE + n)));
  }
}
