import { invalidRequest } from "../errors/api-error.ts";

/**
 * Reads a timestamp that has the contract's form. Throws `invalid_request` where there is no such
 * day, as on 30 February.
 */
export function readTimestamp(text: string, path: string): Date {
  const date = new Date(text);
  // What does not exist JavaScript either refuses or moves to the next day that does.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== text)
    throw invalidRequest("A timestamp names a day that does not exist.", [
      { path, message: "is not a date" },
    ]);
  return date;
}
