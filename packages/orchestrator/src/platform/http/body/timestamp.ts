import { invalidRequest } from "../../errors/api-error.ts";

/**
 * Reads a timestamp in the contract's form. Throws `invalid_request` if there is no such day, such
 * as 30 February.
 */
export function readTimestamp(text: string, path: string): Date {
  const date = new Date(text);
  // JavaScript either refuses a date that does not exist, or moves it to the next one that does.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== text)
    throw invalidRequest("A timestamp names a day that does not exist.", [
      { path, message: "is not a date" },
    ]);
  return date;
}
