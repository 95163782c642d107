/** A heading's anchor, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

export function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, "");
}

/** The anchors of a page's headings. */
export function anchorsOf(page: string): Set<string> {
  const headings = withoutCode(page).matchAll(/^#+ (.*)$/gm);
  return new Set(Array.from(headings, ([, heading = ""]) => anchorOf(heading)));
}
