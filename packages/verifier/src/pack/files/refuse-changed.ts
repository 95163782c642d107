import { ProofError } from "@attestore/proof";
import { CannotTell } from "../../cannot-tell.ts";
import { ZipError } from "../../zip/zip-error.ts";

/**
 * What was read and checked once can only be wrong the second time if somebody changed the pack in
 * between. Throws CannotTell for that, and other errors again.
 */
export function refuseChanged(what: string, error: unknown): never {
  if (!(error instanceof ProofError || error instanceof ZipError)) throw error;
  throw new CannotTell("file_unreadable", `${what} of the pack changed while it was read`);
}
