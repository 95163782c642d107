import { plainText } from "@attestore/proof";

/**
 * Makes every text in a JSON answer safe to show: names, reasons and errors come from hosts, and
 * the pages show them in many places. Signed data travels as base64, which this does not change.
 */
export function plainBody(json: string): string {
  return JSON.stringify(JSON.parse(json), (_name, value: unknown) =>
    typeof value === "string" ? plainText(value) : value,
  );
}
