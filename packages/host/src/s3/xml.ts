/**
 * Returns the contents of all elements with this name, in order, wherever they are. S3's answers
 * are flat lists of elements without attributes or CDATA; anything else yields nothing.
 */
export function xmlElements(xml: string, name: string): string[] {
  const found: string[] = [];
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at !== -1;) {
    const end = xml.indexOf(close, at);
    // Stop at the first unclosed element: searching again behind each of many takes quadratic time.
    if (end === -1) break;
    found.push(xml.slice(at + open.length, end));
    at = xml.indexOf(open, end);
  }
  return found;
}

/** Returns the texts of all elements with this name. */
export function xmlTexts(xml: string, name: string): string[] {
  return xmlElements(xml, name).map(unescapeXml);
}

/** Returns the text of the first element with this name, or null. */
export function xmlText(xml: string, name: string): string | null {
  return xmlTexts(xml, name)[0] ?? null;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g,
    (whole, decimal, hex, name) => {
      if (typeof name === "string") return ENTITIES[name] ?? whole;
      const code =
        typeof decimal === "string" ? Number.parseInt(decimal, 10) : Number.parseInt(String(hex), 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
