import { invalidRequest } from "../../errors/api-error.ts";

const NEWLINE = 0x0a;

/**
 * The lines of a body, without their ends; the last one may lack its own. An empty line is a line:
 * it is no JSON, and is answered so.
 * @throws ApiError `invalid_request` if there are none, or more than `most`
 */
export function splitLines(body: Buffer, { most }: { most: number }): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < body.length;) {
    if (lines.length === most)
      throw invalidRequest(`The body has more than ${most} lines. Send the others in another call.`, [
        { path: "", message: `must not have more than ${most} lines` },
      ]);
    const found = body.indexOf(NEWLINE, start);
    const end = found === -1 ? body.length : found;
    lines.push(body.subarray(start, end));
    start = end + 1;
  }
  if (lines.length === 0)
    throw invalidRequest("The body has no line.", [{ path: "", message: "must have a line" }]);
  return lines;
}

/** An answer in place of each line: `{"status":201,"answer":{…}}`. */
export function formatLine({ status, body }: { status: number; body: Buffer }): Buffer {
  return Buffer.concat([Buffer.from(`{"status":${status},"answer":`), body, Buffer.from("}\n")]);
}
