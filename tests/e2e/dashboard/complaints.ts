import type { Page } from "playwright-core";

const heard = new WeakMap<Page, string[]>();

/**
 * Collects the page's uncaught errors and the browser's messages: policy violations, React
 * warnings.
 */
export function listenForComplaints(page: Page): void {
  const complaints: string[] = [];
  heard.set(page, complaints);
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    // A refusal is an answer; the test itself checks how the page handles it.
    const refused = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !refused) complaints.push(message.text());
  });
}

export function complaintsOf(page: Page): readonly string[] {
  const complaints = heard.get(page);
  if (complaints === undefined) throw new Error("nobody listens to this page: open it by openDashboard");
  return complaints;
}
