import { readFile } from "node:fs/promises";
import { rootCertificates } from "node:tls";
import { errorMessage } from "@attestore/host/errno";
import { UserError } from "../../../platform/errors/user-error.ts";

/** The public CAs and those of this file; undefined without a file. Throws UserError. */
export async function readWebhookCa(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return [...rootCertificates, await readFile(file, "utf8")].join("\n");
  } catch (error) {
    throw new UserError(
      "invalid_setting",
      `ATTESTORE_WEBHOOK_CA names a file that cannot be read: ${errorMessage(error)}.`,
      { cause: error },
    );
  }
}
