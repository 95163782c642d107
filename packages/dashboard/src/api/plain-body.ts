import { plainText } from "@attestore/proof";

/**
 * The JSON of an answer with every text in it safe to show: names, reasons and errors in it come from hosts, and the page shows them in
 * many places. What is signed travels in base64, which this leaves as it is.
 */
export function plainBody(json: string): string {
  return JSON.stringify(JSON.parse(json), (_name, value: unknown) =>
    typeof value === "string" ? plainText(value) : value,
  );
}
