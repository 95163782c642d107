/**
 * The texts of an element wherever it stands in an answer of S3, in order. S3's answers are flat lists of elements without
 * attributes or CDATA; what is not one of those gives nothing.
 */
export function xmlTexts(xml: string, element: string): string[] {
  const found: string[] = [];
  const [open, close] = [`<${element}>`, `</${element}>`];
  for (let at = xml.indexOf(open); at !== -1; at = xml.indexOf(open, at + open.length)) {
    const end = xml.indexOf(close, at);
    if (end === -1) break;
    found.push(unescape(xml.slice(at + open.length, end)));
  }
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&#34;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
};

function unescape(text: string): string {
  return text.replaceAll(/&[#a-z0-9]+;/g, (entity) => ENTITIES[entity] ?? entity);
}

export function xmlEscape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
